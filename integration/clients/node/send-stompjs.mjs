import { Client } from '@stomp/stompjs';
import { TCPWrapper } from '@stomp/tcp-wrapper';

const [host, port] = process.argv.slice(2);
const client = new Client({
  webSocketFactory: () => new TCPWrapper(host, Number(port)),
  reconnectDelay: 0,
  onStompError: (frame) => {
    console.error(frame.headers.message);
    process.exit(1);
  },
  onConnect: async () => {
    // EXAMPLE
    client.watchForReceipt('all', () => client.deactivate());
    client.publish({ destination: '/topic/nobody', body: '', headers: { receipt: 'all' } });
  },
});
client.activate();
