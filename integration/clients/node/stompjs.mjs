
// The adapter of @stomp/stompjs, in Node and in a browser: Client and WebSocket are what the program before it has.
function connect({ version, headers = {}, beat = 0, port: suffix, reconnectDelay = 0 }) {
  const client = new Client({
    webSocketFactory: () => new WebSocket(`ws://${process.env.HOST}:${port('WEBSOCKET', suffix)}/ws`, ['v12.stomp', 'v11.stomp', 'v10.stomp']),
    connectHeaders: headers,
    heartbeatOutgoing: beat,
    heartbeatIncoming: beat,
    reconnectDelay,
    splitLargeFrames: true,
    discardWebsocketOnCommFailure: true,
  });
  if (version) client.stompVersions = { supportedVersions: () => version, protocolVersions: () => [`v${version.replace('.', '')}.stomp`] };
  return client;
}

// reconnect: the library does it by itself, and calls onConnect again.
async function reconnect() {
  const client = connect({ port: '_CUT', reconnectDelay: 100 });
  let connected = 0;
  const kept = new Promise((resolve) => {
    client.onConnect = () => {
      connected += 1;
      if (connected === 1) {
        client.publish({ destination: '/queue/reconnect', body: 'kept' });
        client.subscribe('/topic/cut', () => {});
        client.publish({ destination: '/topic/cut', body: 'cut-here' });
      } else {
        client.subscribe('/queue/reconnect', (message) => resolve(message.body));
      }
    };
  });
  client.activate();
  demand((await within(10_000, kept, 'it did not come back')) === 'kept', 'it received something else');
  await client.deactivate();
}

function open(options) {
  return new Promise((resolve, reject) => {
    const client = connect(options);
    let why = 'closed';
    let tell;
    let count = 0;
    const lost = new Promise((done) => {
      tell = done;
    });
    client.onStompError = (frame) => {
      why = frame.headers.message;
    };
    client.onWebSocketClose = () => {
      tell(why);
      reject(new Error(why));
    };
    const send = (destination, body, headers) => {
      if (typeof body === 'string') client.publish({ destination, body, headers });
      else client.publish({ destination, binaryBody: body, headers });
    };
    const confirmed = (act) =>
      new Promise((done) => {
        count += 1;
        client.watchForReceipt(`r${count}`, done);
        act({ receipt: `r${count}` });
      });
    client.onConnect = () =>
      resolve({
        version: client.connectedVersion,
        lost,
        send,
        confirmed: (destination, body, headers) => confirmed((receipt) => send(destination, body, { ...headers, ...receipt })),
        subscribe: (destination, headers, handler) => {
          const subscription = client.subscribe(
            destination,
            (m) => handler({ text: m.body, octets: m.binaryBody, headers: m.headers, ack: (extra) => m.ack(extra), nack: (extra) => m.nack(extra) }),
            { ...headers },
          );
          return { end: (extra) => subscription.unsubscribe(extra) };
        },
        begin: () => client.begin().id,
        commit: async (id) => client.commit(id),
        abort: async (id) => client.abort(id),
        close: () => client.deactivate(),
      });
    client.activate();
  });
}
