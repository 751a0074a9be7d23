import stompit from 'stompit';

const [host, port, destination, count] = process.argv.slice(2);
let left = Number(count);
stompit.connect({ host, port: Number(port), connectHeaders: { 'heart-beat': '0,0' } }, (error, client) => {
  if (error) throw error;
  client.subscribe({ destination, ack: 'client-individual' }, (failure, message) => {
    if (failure) throw failure;
    message.readString('utf-8', (broken, body) => {
      if (broken) throw broken;
      console.log(JSON.stringify({ body, headers: message.headers }));
      client.ack(message);
      left -= 1;
      if (left === 0) client.disconnect();
    });
  });
});
