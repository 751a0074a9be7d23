import { RxStomp, RxStompRPC } from '@stomp/rx-stomp';
import { filter, firstValueFrom } from 'rxjs';
import WebSocket from 'ws';

await tryFeatures({}, { reconnect, reply });

function connect({ version, headers = {}, beat = 0, port: suffix, reconnectDelay = 0 }) {
  const rx = new RxStomp();
  rx.configure({
    webSocketFactory: () => new WebSocket(`ws://${process.env.HOST}:${port('WEBSOCKET', suffix)}/ws`, ['v12.stomp', 'v11.stomp', 'v10.stomp']),
    connectHeaders: headers,
    heartbeatOutgoing: beat,
    heartbeatIncoming: beat,
    reconnectDelay,
    ...(version && { stompVersions: { supportedVersions: () => version, protocolVersions: () => [`v${version.replace('.', '')}.stomp`] } }),
  });
  return rx;
}

// reconnect: what is watched goes on by itself.
async function reconnect() {
  const rx = connect({ port: '_CUT', reconnectDelay: 100 });
  rx.activate();
  await firstValueFrom(rx.connected$);
  const kept = firstValueFrom(rx.watch({ destination: '/topic/go-on' }).pipe(filter((message) => message.body === 'kept')));
  rx.watch({ destination: '/topic/cut' }).subscribe(() => {});
  const again = firstValueFrom(rx.connectionState$.pipe(filter((state) => state === 3)));
  rx.publish({ destination: '/topic/cut', body: 'cut-here' });
  await within(8000, again, 'the loss was not noticed');
  await within(8000, firstValueFrom(rx.connected$), 'it did not come back');
  rx.publish({ destination: '/topic/go-on', body: 'kept' });
  await within(8000, kept, 'the subscription did not go on');
  await rx.deactivate();
}

// reply: its remote procedure calls, over replies that it subscribes to by asking for them.
async function reply() {
  const server = connect({});
  server.activate();
  const requests = new Promise((resolve) => {
    server.watch({ destination: '/queue/rpc' }).subscribe((request) => {
      server.publish({
        destination: request.headers['reply-to'],
        body: `${request.body}!`,
        headers: { 'correlation-id': request.headers['correlation-id'] },
      });
      resolve();
    });
  });
  const rx = connect({});
  rx.activate();
  const call = firstValueFrom(new RxStompRPC(rx).rpc({ destination: '/queue/rpc', body: 'how much?' }));
  const answer = await within(8000, call, 'no reply came');
  await requests;
  demand(answer.body === 'how much?!', `the reply is ${answer.body}`);
  await rx.deactivate();
  await server.deactivate();
}

async function open(options) {
  const rx = connect(options);
  let why = 'closed';
  let count = 0;
  rx.stompErrors$.subscribe((frame) => {
    why = frame.headers.message;
  });
  const lost = new Promise((tell) => {
    rx.webSocketErrors$.subscribe(() => {});
    rx.connectionState$.subscribe((state) => {
      if (state === 3 && opened) setTimeout(() => tell(why));
    });
  });
  let opened = false;
  rx.activate();
  await within(8000, firstValueFrom(rx.connected$), 'it did not connect');
  opened = true;
  const send = (destination, body, headers) => {
    rx.publish({ destination, headers, retryIfDisconnected: false, ...(typeof body === 'string' ? { body } : { binaryBody: body }) });
  };
  return {
    version: rx.stompClient.connectedVersion,
    lost,
    send,
    confirmed: (destination, body, headers) =>
      new Promise((done) => {
        count += 1;
        rx.watchForReceipt(`r${count}`, done);
        send(destination, body, { ...headers, receipt: `r${count}` });
      }),
    subscribe: (destination, subHeaders, handler) => {
      const endHeaders = {};
      const subscription = rx
        .watch({ destination, subHeaders: { ...subHeaders }, unsubHeaders: () => endHeaders })
        .subscribe((m) => handler({ text: m.body, octets: m.binaryBody, headers: m.headers, ack: (extra) => m.ack(extra), nack: (extra) => m.nack(extra) }));
      return {
        end: (extra) => {
          Object.assign(endHeaders, extra);
          subscription.unsubscribe();
        },
      };
    },
    begin: () => rx.stompClient.begin().id,
    commit: async (id) => rx.stompClient.commit(id),
    abort: async (id) => rx.stompClient.abort(id),
    close: () => rx.deactivate(),
  };
}
