import webstomp from 'webstomp-client';
import WebSocket from 'ws';

await tryFeatures({
  binary: 'bodies are text, and end at the first NUL',
});

function open({ version, headers = {}, beat = 0, port: suffix }) {
  const protocols = version ? [`v${version.replace('.', '')}.stomp`] : ['v10.stomp', 'v11.stomp', 'v12.stomp'];
  const socket = new WebSocket(`ws://${process.env.HOST}:${port('WEBSOCKET', suffix)}/ws`, protocols);
  const client = webstomp.over(socket, { debug: false, heartbeat: { outgoing: beat, incoming: beat } });
  return classic(client, headers, (destination, body, more) => client.send(destination, body, more));
}
