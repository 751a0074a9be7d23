
// What the programs that try the features have in common. Each is followed by this, and has a function
// open(options) that connects by its library: options are version, headers, beat (ms), and port, one of '',
// '_SILENT' and '_CUT'. What it gives has
//   version                                     the one that was agreed on
//   lost                                        a promise that tells why the connection ended
//   send(destination, body, headers)            body is text, or octets
//   confirmed(destination, body, headers)       the same, a promise of its RECEIPT
//   subscribe(destination, headers, handler)    gives {end(headers)}, or no end if its UNSUBSCRIBE has no headers; the handler gets {text, octets, headers, ack(headers), nack(headers)}
//   begin(), commit(id), abort(id)
//   close()                                     a promise
async function tryFeatures(lacks, more = {}) {
  process.on('uncaughtException', () => {}); // libraries throw what they also report
  process.on('unhandledRejection', () => {});
  const suite = { ...featureSuite(), ...more };
  for (const [name, attempt] of Object.entries(suite)) {
    if (lacks[name]) {
      console.log(`none ${name} ${lacks[name]}`);
      continue;
    }
    try {
      await within(20_000, attempt(), 'it took too long');
      console.log(`pass ${name}`);
    } catch (error) {
      console.log(`fail ${name} ${String(error?.message ?? error).replaceAll('\n', ' ')}`);
    }
  }
  process.exit(0);
}

function within(ms, promise, otherwise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function demand(is, what) {
  if (!is) throw new Error(what);
}

function port(kind, suffix = '') {
  return Number(process.env[kind + suffix]);
}

// inbox subscribes, and gives the messages one by one.
function inbox(session, destination, headers = {}) {
  const waiting = [];
  const wanted = [];
  const subscription = session.subscribe(destination, headers, (message) => {
    const next = wanted.shift();
    if (next) next(message);
    else waiting.push(message);
  });
  return {
    subscription,
    waiting,
    next(text) {
      const message = waiting.length ? Promise.resolve(waiting.shift()) : new Promise((resolve) => wanted.push(resolve));
      return within(8000, message, `no message came, instead of ${text}`).then((m) => {
        demand(text === undefined || m.text === text, `received ${m.text}, not ${text}`);
        return m;
      });
    },
  };
}

function featureSuite() {
  const versions = (version) => async () => {
    const s = await open({ version });
    demand(s.version === version, `connected with ${s.version}`);
    await s.confirmed(`/queue/v${version}`, 'x');
    await s.close();
  };
  const acknowledged = (mode, acknowledge, left) => async () => {
    const queue = `/queue/${mode}`;
    let s = await open({});
    for (const body of ['1', '2', '3']) await s.confirmed(queue, body);
    const box = inbox(s, queue, { ack: mode });
    const messages = [await box.next('1'), await box.next('2'), await box.next('3')];
    await acknowledge(messages);
    await s.confirmed('/queue/done', 'x');
    await s.close();
    s = await open({});
    const again = inbox(s, queue, { ack: 'auto' });
    for (const body of left) await again.next(body);
    s.send(queue, 'end');
    await again.next('end');
    await s.close();
  };
  return {
    '1.0': versions('1.0'),
    '1.1': versions('1.1'),
    '1.2': versions('1.2'),
    send: async () => {
      const s = await open({});
      const box = inbox(s, '/queue/send');
      s.send('/queue/send', 'Grüße, 世界', { kind: 'a greeting' });
      const m = await box.next('Grüße, 世界');
      demand(m.headers.kind === 'a greeting', `its header is ${m.headers.kind}`);
      const large = 'a mebibyte, '.repeat(1 << 17).slice(0, 1 << 20);
      s.send('/queue/send', large);
      demand((await box.next()).text === large, 'a message of 1 MiB is not what it was');
      await s.close();
    },
    auto: acknowledged('auto', async () => {}, []),
    client: acknowledged('client', async ([, second]) => second.ack(), ['3']),
    individual: acknowledged('client-individual', async ([, second]) => second.ack(), ['1', '3']),
    nack: async () => {
      const s = await open({});
      const box = inbox(s, '/queue/nack', { ack: 'client-individual' });
      s.send('/queue/nack', 'again');
      (await box.next('again')).nack();
      const m = await box.next('again');
      demand(m.headers.redelivered === 'true', 'it is not marked as redelivered');
      m.ack();
      await s.confirmed('/queue/done', 'x');
      await s.close();
    },
    commit: async () => {
      const s = await open({});
      s.send('/queue/in', 'order');
      const out = inbox(s, '/queue/commit');
      const order = await inbox(s, '/queue/in', { ack: 'client-individual' }).next('order');
      const id = s.begin();
      order.ack({ transaction: id });
      s.send('/queue/commit', 'inside', { transaction: id });
      s.send('/queue/commit', 'outside');
      await out.next('outside');
      await s.commit(id);
      await out.next('inside');
      await s.close();
      const t = await open({});
      const again = inbox(t, '/queue/in');
      t.send('/queue/in', 'end');
      await again.next('end');
      await t.close();
    },
    abort: async () => {
      const s = await open({});
      const out = inbox(s, '/queue/abort');
      const id = s.begin();
      s.send('/queue/abort', 'inside', { transaction: id });
      await s.abort(id);
      s.send('/queue/abort', 'outside');
      await out.next('outside');
      await s.close();
    },
    receipt: async () => {
      const s = await open({});
      await within(5000, s.confirmed('/queue/receipt', 'x'), 'no receipt');
      await s.close();
    },
    beats: async () => {
      const s = await open({ beat: 1000 });
      const what = await Promise.race([s.lost, pause(3500)]);
      demand(what === undefined, `lost: ${what}`);
      await s.confirmed('/queue/beats', 'x');
      await s.close();
    },
    missed: async () => {
      const s = await open({ beat: 1000, port: '_SILENT' });
      await within(10_000, s.lost, 'the silence was not noticed');
    },
    selector: async () => {
      const s = await open({});
      const box = inbox(s, '/topic/selector', { selector: "n > 1 AND kind LIKE 'a%'" });
      await s.confirmed('/queue/done', 'x');
      s.send('/topic/selector', 'one', { n: '1', kind: 'ab' });
      s.send('/topic/selector', 'two', { n: '2', kind: 'ab' });
      await box.next('two');
      await s.close();
    },
    durable: async () => {
      const headers = { id: 'news', durable: 'true' };
      const connect = () => open({ headers: { 'client-id': 'reader' } });
      let s = await connect();
      inbox(s, '/topic/durable', headers);
      await s.confirmed('/topic/other', 'x');
      await s.close();
      s = await open({});
      await s.confirmed('/topic/durable', 'while away');
      await s.close();
      s = await connect();
      const box = inbox(s, '/topic/durable', headers);
      await box.next('while away');
      if (!box.subscription.end) return s.close();
      box.subscription.end(headers);
      await s.confirmed('/topic/durable', 'after the end');
      await s.close();
      s = await connect();
      const after = inbox(s, '/topic/durable', headers);
      await s.confirmed('/topic/durable', 'anew');
      await after.next('anew');
      await s.close();
    },
    delay: async () => {
      const s = await open({});
      const box = inbox(s, '/queue/delay');
      const sent = Date.now();
      s.send('/queue/delay', 'later', { AMQ_SCHEDULED_DELAY: '700' });
      s.send('/queue/delay', 'now');
      await box.next('now');
      await box.next('later');
      demand(Date.now() - sent >= 700, `it came after ${Date.now() - sent} ms`);
      await s.close();
    },
    reply: async () => {
      const asks = await open({});
      const answers = await open({});
      const requests = inbox(answers, '/queue/requests');
      const replies = inbox(asks, '/temp-queue/replies');
      asks.send('/queue/requests', 'how much?', { 'reply-to': '/temp-queue/replies', 'correlation-id': '7' });
      const request = await requests.next('how much?');
      answers.send(request.headers['reply-to'], '42', { 'correlation-id': request.headers['correlation-id'] });
      const reply = await replies.next('42');
      demand(reply.headers['correlation-id'] === '7', 'it answers something else');
      await asks.close();
      await answers.close();
    },
    binary: async () => {
      const s = await open({ binary: true });
      const box = inbox(s, '/queue/binary');
      const octets = Uint8Array.from([0, 1, 10, 13, 0, 255, 128, 0]);
      s.send('/queue/binary', octets, { 'content-type': 'application/octet-stream' });
      const m = await box.next();
      demand(Array.from(m.octets).join() === Array.from(octets).join(), `received ${Array.from(m.octets).join()}`);
      await s.close();
    },
    error: async () => {
      const s = await open({});
      s.send('/nonsense/x', 'x');
      const why = await within(8000, s.lost, 'it was not noticed');
      demand(String(why).includes('/nonsense/x'), `it says ${why}`);
    },
    reconnect: async () => {
      let s = await open({ port: '_CUT' });
      await s.confirmed('/queue/reconnect', 'kept');
      s.subscribe('/topic/cut', {}, () => {});
      await s.confirmed('/queue/done', 'x');
      s.send('/topic/cut', 'cut-here');
      await within(8000, s.lost, 'the loss was not noticed');
      s = await open({ port: '_CUT' });
      await inbox(s, '/queue/reconnect').next('kept');
      await s.close();
    },
  };
}

// classic is what webstomp-client and stompjs 2.3 have in common, which are of one origin.
// It deletes durable subscriptions if its UNSUBSCRIBE takes headers.
function classic(client, headers, sends, deletes = true) {
  return new Promise((resolve, reject) => {
    const receipts = {};
    let count = 0;
    let tell;
    const lost = new Promise((done) => {
      tell = done;
    });
    client.onreceipt = (frame) => receipts[frame.headers['receipt-id']]?.();
    const confirmed = (act) =>
      new Promise((done) => {
        count += 1;
        receipts[`r${count}`] = done;
        act({ receipt: `r${count}` });
      });
    const session = {
      lost,
      send: (destination, body, more) => sends(destination, body, { ...more }),
      confirmed: (destination, body, more) => confirmed((receipt) => sends(destination, body, { ...more, ...receipt })),
      subscribe: (destination, more, handler) => {
        const subscription = client.subscribe(
          destination,
          (m) => handler({ text: m.body, headers: m.headers, ack: (extra) => m.ack(extra), nack: (extra) => m.nack(extra) }),
          { ...more },
        );
        return { end: deletes && ((extra) => subscription.unsubscribe(extra)) };
      },
      begin: () => client.begin().id,
      commit: async (id) => client.commit(id),
      abort: async (id) => client.abort(id),
      close: async () => client.disconnect(),
    };
    client.connect(
      { ...headers },
      (frame) => resolve({ ...session, version: frame.headers.version }),
      (problem) => {
        const why = problem?.headers?.message ?? 'closed';
        tell(why);
        reject(new Error(why));
      },
    );
  });
}
