import { Client } from '@stomp/stompjs';
import { TCPWrapper } from '@stomp/tcp-wrapper';

const [host, port, destination, count] = process.argv.slice(2);
let left = Number(count);
const client = new Client({
  webSocketFactory: () => new TCPWrapper(host, Number(port)),
  reconnectDelay: 0,
  onStompError: (frame) => {
    console.error(frame.headers.message);
    process.exit(1);
  },
  onConnect: () => {
    client.subscribe(
      destination,
      (message) => {
        console.log(JSON.stringify({ body: message.body, headers: message.headers }));
        message.ack();
        left -= 1;
        if (left === 0) client.deactivate();
      },
      { ack: 'client-individual' },
    );
  },
});
client.activate();
