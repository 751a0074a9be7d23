import { createRequire } from 'node:module';
import WebSocket from 'ws';

const { Stomp } = createRequire(import.meta.url)('stompjs/lib/stomp.js');
Stomp.setInterval = (interval, f) => setInterval(f, interval);
Stomp.clearInterval = (id) => clearInterval(id);

await tryFeatures({
  1.2: 'it speaks 1.0 and 1.1',
  binary: 'bodies are text, and end at the first NUL',
});

function open({ version, headers = {}, beat = 0, port: suffix }) {
  Stomp.VERSIONS.supportedVersions = () => version ?? '1.1,1.0';
  const socket = new WebSocket(`ws://${process.env.HOST}:${port('WEBSOCKET', suffix)}/ws`, ['v10.stomp', 'v11.stomp']);
  const client = Stomp.over(socket);
  client.heartbeat = { outgoing: beat, incoming: beat };
  client.debug = null;
  return classic(client, headers, (destination, body, more) => client.send(destination, more, body), false);
}
