import stompit from 'stompit';

const [host, port] = process.argv.slice(2);
stompit.connect({ host, port: Number(port), connectHeaders: { 'heart-beat': '0,0' } }, (error, client) => {
  if (error) throw error;
  client.on('error', (failure) => {
    throw failure;
  });
  // EXAMPLE
  client.disconnect((failure) => {
    if (failure) throw failure;
  });
});
