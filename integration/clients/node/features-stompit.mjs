import stompit from 'stompit';

await tryFeatures({
  error: 'it reports an ERROR of the type text/plain as a connection that ended, and loses its text (1.0.0)',
});

function open({ version = '1.0,1.1,1.2', headers = {}, beat = 0, port: suffix }) {
  return new Promise((resolve, reject) => {
    const connectHeaders = { 'accept-version': version, 'heart-beat': `${beat},${beat}`, ...headers };
    const options = { host: process.env.HOST, port: port('STOMP', suffix), connectHeaders };
    let agreed;
    const connecting = stompit.connect(options, (failure, client) => {
      if (failure) return reject(failure);
      const lost = new Promise((tell) => {
        client.on('error', (error) => tell(error.message));
        client.on('end', () => tell('closed'));
      });
      const send = (destination, body, more, onReceipt) => {
        const frame = client.send({ destination, 'content-length': Buffer.byteLength(body), ...more }, onReceipt && { onReceipt });
        frame.end(body);
      };
      resolve({
        version: agreed,
        lost,
        send,
        confirmed: (destination, body, more) => new Promise((done) => send(destination, body, more, done)),
        subscribe: (destination, more, handler) => {
          const subscription = client.subscribe({ destination, ...more }, (error, message) => {
            if (error) return;
            const chunks = [];
            message.on('data', (chunk) => chunks.push(chunk));
            message.on('end', () => {
              const octets = Buffer.concat(chunks);
              handler({
                text: octets.toString(),
                octets,
                headers: message.headers,
                ack: (extra) => client.ack(message, extra),
                nack: (extra) => client.nack(message, extra),
              });
            });
          });
          return { end: (extra) => subscription.unsubscribe(extra) };
        },
        begin: () => client.begin().id,
        commit: (id) => new Promise((done) => client.sendFrame('COMMIT', { transaction: id }, { onReceipt: done }).end()),
        abort: (id) => new Promise((done) => client.sendFrame('ABORT', { transaction: id }, { onReceipt: done }).end()),
        close: () => new Promise((done) => client.disconnect(done)),
      });
    });
    const setVersion = connecting.setVersion;
    connecting.setVersion = (name) => {
      agreed = name;
      setVersion.call(connecting, name);
    };
  });
}
