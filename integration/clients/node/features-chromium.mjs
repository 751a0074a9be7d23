import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

// A page in Chromium runs the attempts, with the library as pages load it. What it says on its console is what this says.
const own = readFileSync(fileURLToPath(import.meta.url), 'utf8');
const library = readFileSync(createRequire(import.meta.url).resolve('@stomp/stompjs'));
const ports = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(HOST$|WEBSOCKET)/.test(name)));
const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script src="stomp.js"></script><script type="module">
const { Client } = StompJs;
const process = { env: ${JSON.stringify(ports)}, on() {}, exit() { console.log('over'); } };
await tryFeatures({}, { reconnect });
${own.slice(own.lastIndexOf('// The adapter'))}
</script>`;
const server = createServer((request, response) => {
  response.setHeader('content-type', request.url === '/stomp.js' ? 'text/javascript' : 'text/html');
  response.end(request.url === '/stomp.js' ? library : page);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const tab = await browser.newPage();
const over = new Promise((done) => {
  tab.on('console', (message) => {
    if (message.text() === 'over') done();
    else if (message.type() === 'error') process.exitCode = 1;
    if (message.text() !== 'over') console.log(message.text());
  });
  tab.on('pageerror', (error) => {
    console.error(error);
    process.exitCode = 1;
    done();
  });
});
await tab.goto(`http://127.0.0.1:${server.address().port}/`);
await over;
await browser.close();
server.close();
