/** Messages between nodes: routes, hops, fragments, requests and their errors; forwarding without decoding. */

import { NEIGHBOUR, StciError, rootAddress, sessionAddress, type Channel } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { SUBTREE } from '../../dist/am/transport.js';
import type { Link } from '../../dist/bootcom/link.js';
import { encode } from '../../dist/codec/cbor.js';
import { FLAG, HEADER_BYTES, LAYER, decodeHeader, encodeHeader, type FrameHeader } from '../../dist/codec/frame.js';
import type { AgentNode } from '../../dist/node/node.js';
import { addressOf, ask, line, makeNet, star, tree, type Net } from '../am/net.js';

const MIB = 1024 * 1024;

const HEADER: FrameHeader = {
  layer: LAYER.message, type: 4, flags: 0, ttl: 64, stream: 0, source: 1, destination: 0, job: 0, sequence: 1,
};

const linkOf = (net: Net, from: number, to: number): Link => net.nodes[from]?.router.link(addressOf(to)) as Link;

/** Texts of the agent.stop messages, which are one-way, that node `at` receives. */
function hear(net: Net, at: number): string[] {
  const heard: string[] = [];
  net.nodes[at]?.messages.on('agent.stop', ({ reason }, { source }) => void heard.push(`${source} ${reason}`));
  return heard;
}

suite('message routing', (test) => {
  const shapes: [string, number[]][] = [
    ['two', line(2)], ['a line of 9', line(9)], ['a star of 12', star(12)], ['a binary tree of 15', tree(15, 2)],
    ['a tree of 40, arity 3', tree(40, 3)], ['a tree of 40, arity 1', tree(40, 1)],
  ];
  for (const [name, parents] of shapes) {
    test(`in ${name} every agent reaches every other one`, () => {
      const net = makeNet(parents);
      let done = 0;
      const wrong: string[] = [];
      net.nodes.forEach((node, from) => net.nodes.forEach((_, to) => {
        const body = { from, to };
        node.messages.request(addressOf(to), 'agent.echo', body, (error, reply) => {
          done += 1;
          if (error !== undefined || JSON.stringify(reply) !== JSON.stringify(body)) wrong.push(`${from} → ${to}`);
        });
      }));
      net.until(() => done === parents.length ** 2, 'all replies');
      assert.equal([wrong, net.faults], [[], []]);
    });
  }

  test('one-way messages of one source stay in order, also over several hops', () => {
    const net = makeNet(line(6));
    const heard = hear(net, 5);
    for (let i = 0; i < 200; i++) net.nodes[0]?.messages.send(addressOf(5), 'agent.stop', { reason: String(i) });
    net.until(() => heard.length === 200, 'all of them');
    assert.equal(heard, Array.from({ length: 200 }, (_, i) => `0 ${i}`));
  });

  test('what nobody can route goes to the default route, and its error comes back to who asked', () => {
    const net = makeNet(tree(7, 2));
    for (const from of [0, 1, 6]) {
      const { error } = ask(net, from, rootAddress(99), 1);
      assert.is(error?.code, 'STCI_MESSAGE_UNROUTABLE');
      assert.match(error?.message ?? '', /No route to root:99; links of controller: root:0, root:1/);
      assert.is(error?.agent, 'controller');
    }
    const error = net.nodes[0]?.messages.send(sessionAddress(99), 'agent.stop', { reason: '' });
    assert.equal([error?.code, net.faults.length], ['STCI_MESSAGE_UNROUTABLE', 1]);
    net.nodes[6]?.messages.send(sessionAddress(99), 'agent.stop', { reason: '' });
    net.run();
    assert.equal(net.faults.length, 2, 'a one-way message that went nowhere is told where it ended');
  });

  test('a frame does not go back where it came from: a loop of explicit routes is a wait for an answer', () => {
    const net = makeNet(line(4));
    const nowhere = rootAddress(50);
    net.nodes[1]?.router.route(nowhere, addressOf(2));
    net.nodes[2]?.router.route(nowhere, addressOf(1));
    const before = linkOf(net, 1, 2).facts.framesOut;
    assert.is(ask(net, 3, nowhere, 'x', { timeoutMs: 200 }).error?.code, 'STCI_REQUEST_TIMEOUT');
    assert.is(linkOf(net, 1, 2).facts.framesOut, before);
    net.nodes[1]?.router.route(nowhere, undefined);
    assert.is(ask(net, 3, nowhere, 'x').error?.code, 'STCI_MESSAGE_UNROUTABLE');
  });

  test('a frame whose hops are spent ends, and its sender is told', () => {
    const net = makeNet(line(4), { 'message.ttl': '16' });
    const long = makeNet(line(20), { 'message.ttl': '16' });
    assert.is(ask(net, 3, addressOf(0), 'x').error, undefined);
    assert.is(ask(long, 19, addressOf(0), 'x').error?.code, 'STCI_MESSAGE_TTL');
  });

  test('an explicit route beats the tree, and a link beats both', () => {
    const net = makeNet(tree(7, 2));
    net.nodes[0]?.router.route(addressOf(5), addressOf(1));
    net.nodes[1]?.router.route(addressOf(5), addressOf(0));
    assert.is(ask(net, 0, addressOf(5), 1, { timeoutMs: 200 }).error?.code, 'STCI_REQUEST_TIMEOUT');
    net.nodes[0]?.router.route(addressOf(1), addressOf(2));
    assert.is(ask(net, 0, addressOf(1), 7).reply, 7);
  });

  test('a message for the subtree reaches each agent below once, and nobody else', () => {
    const net = makeNet(tree(13, 3));
    const heard = net.nodes.map((_, i) => hear(net, i));
    net.nodes[1]?.messages.sendSubtree('agent.stop', { reason: '€'.repeat(40_000) });
    net.run();
    assert.equal(heard.map((told) => told.length), net.nodes.map((_, i) => (i >= 4 && i <= 6 ? 1 : 0)));
  });

  test('a message for the neighbour goes no further', () => {
    const net = makeNet(line(3));
    const heard = [hear(net, 0), hear(net, 1), hear(net, 2)];
    net.nodes[0]?.messages.sendNeighbour(linkOf(net, 0, 1), 'agent.stop', { reason: 'you' });
    net.run();
    assert.equal(heard.map((told) => told.length), [0, 1, 0]);
  });
});

suite('forwarding', (test) => {
  test('costs no decoding: bodies that are no CBOR arrive byte for byte', () => {
    const net = makeNet(line(5));
    const next = seededIntegers(4);
    const sent = Array.from({ length: 60 }, (_, i) => {
      const body = Uint8Array.from({ length: next(3000) }, () => next(256));
      body.set([0xff, 0xff, 0xff].slice(0, body.length));
      return { header: { ...HEADER, destination: addressOf(4), sequence: i }, body };
    });
    const arrived: Uint8Array[] = [];
    const last = net.channels[4]?.[0] as Channel;
    // Replaces the last node: records the frames of its link.
    const taken: Uint8Array[] = [];
    const node = net.nodes[4];
    if (node !== undefined) node.messages.onFrame = (_link, frame) => void taken.push(frame.slice());
    for (const { header, body } of sent) linkOf(net, 0, 1).send([encodeHeader(header, body.length), body]);
    net.until(() => taken.length === sent.length, 'all frames');
    for (const [i, frame] of taken.entries()) {
      const { header, body } = sent[i] as (typeof sent)[number];
      assert.equal(decodeHeader(frame), { ...header, ttl: header.ttl - 3 });
      assert.ok(Buffer.compare(frame.subarray(HEADER_BYTES), body) === 0, `frame ${i}`);
    }
    assert.equal([net.faults, arrived.length, last.kind], [[], 0, 'memory']);
  });

  test('a body that is no CBOR is a fault where it ends, and nothing more', () => {
    const net = makeNet(line(3));
    const body = Uint8Array.of(0xff, 0x00, 0x81);
    for (const flags of [0, FLAG.reply, FLAG.reply | FLAG.error]) {
      linkOf(net, 0, 1).send([encodeHeader({ ...HEADER, flags, destination: addressOf(2) }, 3), body]);
    }
    net.run();
    assert.is(net.faults.length, 1, 'a reply that nobody waits for is dropped');
    assert.match(net.faults[0] ?? '', /root:1: message: STCI_CODEC_INVALID/);
    assert.is(ask(net, 0, addressOf(2), 5).reply, 5);
  });

  test('a request whose body is no CBOR, or of the wrong form, or of an unknown type, is answered with the error',
    () => {
    const net = makeNet(line(3));
    const replies: number[] = [];
    const cases: [number, Uint8Array][] = [[4, Uint8Array.of(0x81)], [2, encode({ reason: 5 })], [999, encode(1)],
      [20, encode({})]];
    cases.forEach(([type, body], i) => {
      const header = { ...HEADER, type, flags: FLAG.request, source: addressOf(0), destination: addressOf(2),
        sequence: 900 + i };
      linkOf(net, 0, 1).send([encodeHeader(header, body.length), body]);
    });
    const node = net.nodes[0];
    const onFrame = node?.messages.onFrame.bind(node.messages);
    if (node !== undefined && onFrame !== undefined) {
      node.messages.onFrame = (link, frame) => {
        const { flags, sequence } = decodeHeader(frame);
        if ((flags & (FLAG.reply | FLAG.error)) === (FLAG.reply | FLAG.error)) replies.push(sequence);
        onFrame(link, frame);
      };
    }
    net.run();
    assert.equal(replies.sort(), [900, 901, 902, 903]);
  });
});

suite('fragments', (test) => {
  test('messages up to 1 MiB arrive whole, over several hops', () => {
    const net = makeNet(line(4));
    for (const bytes of [0, 1, 65_791, 65_792, 65_793, 131_584, 200_000, MIB - 16]) {
      const data = Uint8Array.from({ length: bytes }, (_, i) => (i * 7) % 253);
      const { error, reply } = ask(net, 0, addressOf(3), data);
      assert.is(error, undefined);
      assert.is(Buffer.compare(reply as Uint8Array, data), 0, `${bytes} bytes`);
    }
  });

  test('interleaved messages of several sources, and of one, do not mix', () => {
    const net = makeNet(tree(7, 2));
    let done = 0;
    const wrong: number[] = [];
    for (let i = 0; i < 40; i++) {
      const data = new Uint8Array(1000 + i * 9000).fill(i);
      net.nodes[1 + (i % 6)]?.messages.request(addressOf(0), 'agent.echo', data, (_error, reply) => {
        done += 1;
        if (!(reply instanceof Uint8Array) || Buffer.compare(reply, data) !== 0) wrong.push(i);
      });
    }
    net.until(() => done === 40, 'all replies');
    assert.equal(wrong, []);
  });

  test('a message over the bound is refused where it is made, and where it comes in', () => {
    const net = makeNet(line(2), { 'message.bytes.max': '256KiB' });
    const large = new Uint8Array(256 * 1024);
    const { messages } = net.nodes[0] as AgentNode;
    const errors = [
      messages.send(addressOf(1), 'agent.echo', large), messages.post(addressOf(1), 'agent.echo', large),
      messages.sendNeighbour(linkOf(net, 0, 1), 'agent.echo', large), messages.sendSubtree('agent.echo', large),
    ];
    assert.equal(errors.map((error) => error?.code), Array(4).fill('STCI_MESSAGE_TOO_LARGE'));
    assert.match(net.faults.join('\n'), /^(controller: agent.echo cannot be sent: STCI_MESSAGE_TOO_LARGE: .*\n?){4}$/u);
    assert.is(ask(net, 0, addressOf(1), new Uint8Array(256 * 1024)).error?.code, 'STCI_MESSAGE_TOO_LARGE');
    const part = new Uint8Array(60_000);
    const header = { ...HEADER, flags: FLAG.more, destination: addressOf(1), source: addressOf(0) };
    for (let i = 0; i < 5; i++) linkOf(net, 0, 1).send([encodeHeader(header, part.length), part]);
    net.run();
    assert.match(net.faults.join(), /STCI_MESSAGE_TOO_LARGE.*message\.bytes\.max/);
    assert.is(ask(net, 0, addressOf(1), 'still here').reply, 'still here');
  });

  test('the rest of a message that was dropped is no message of its own', () => {
    const net = makeNet(line(2), { 'message.bytes.max': '64KiB' });
    const heard = hear(net, 1);
    const whole = new Uint8Array(150_000);
    // The last fragment, 18 416 bytes, reads as a message by itself.
    whole.set(encode({ reason: 'x'.repeat(18_416 - 11) }), 2 * 65_792);
    const header = { ...HEADER, type: 2, source: addressOf(0), destination: addressOf(1) };
    net.nodes[0]?.messages.transport.send(header, [whole]);
    net.run();
    assert.equal([heard, net.faults.length], [[], 1]);
    assert.match(net.faults[0] ?? '', /STCI_MESSAGE_TOO_LARGE/);
  });

  test('messages that never end are bounded in number, and forgotten in time', () => {
    const net = makeNet(line(2), { 'request.timeout': '1s' });
    const begin = (sequence: number): void => void linkOf(net, 0, 1).send([
      encodeHeader({ ...HEADER, flags: FLAG.more, destination: addressOf(1), source: addressOf(0), sequence }, 1),
        Uint8Array.of(1),
    ]);
    for (let i = 0; i < 68; i++) begin(i);
    net.run(200);
    assert.is(net.faults.filter((text) => text.includes('partial messages of')).length, 4);
    net.run(2000);
    begin(5000);
    net.run(200);
    assert.equal(net.faults.slice(4), [], 'after their time there is room again');
  });

  test('memory of messages that never end is bounded too', () => {
    const net = makeNet(line(2), { 'message.bytes.max': '1MiB' });
    const part = new Uint8Array(65_792);
    let sent = 0;
    for (let sequence = 0; sequence < 400; sequence++) {
      for (let i = 0; i < 15; i++) {
        const header = { ...HEADER, flags: FLAG.more, destination: addressOf(1), source: addressOf(0), sequence };
        linkOf(net, 0, 1).send([encodeHeader(header, part.length), part]);
        sent += part.length;
      }
      net.run(1);
    }
    assert.ok(net.faults.length > 0, `${Math.round(sent / MIB)} MiB of beginnings were kept`);
    assert.match(net.faults[0] ?? '', /STCI_MESSAGE_TOO_LARGE/);
  });
});

suite('requests', (test) => {
  test('a deadline that passes is one error; the late reply is dropped', () => {
    const net = makeNet(line(3));
    let calls = 0;
    net.channels[2]?.[0].readable(false);
    const { error } = ask(net, 0, addressOf(2), 1, { timeoutMs: 250 });
    assert.is(error?.code, 'STCI_REQUEST_TIMEOUT');
    assert.match(error?.message ?? '', /root:1 to agent\.echo in 250 ms/);
    net.nodes[0]?.messages.request(addressOf(2), 'agent.echo', 2, () => (calls += 1), { timeoutMs: 100 });
    net.run(200);
    net.channels[2]?.[0].readable(true);
    net.run(1000);
    assert.equal([calls, net.faults], [1, []]);
  });

  test('replies belong to their requests, whatever their order', () => {
    const net = makeNet(star(5));
    const got: number[] = [];
    for (let i = 0; i < 100; i++) {
      net.nodes[0]?.messages.request(addressOf(1 + (i % 4)), 'agent.echo', i, (_error, reply) =>
        got.push(reply as number));
    }
    net.until(() => got.length === 100, 'all replies');
    assert.equal([...new Set(got)].length, 100);
  });

  test('an error that the far end throws comes back typed, with its facts; an unknown code keeps them', () => {
    const net = makeNet(line(3));
    net.nodes[2]?.messages.on('job.restarting.noted', () => {
      throw new StciError('STCI_PROGRAM_WDIR', 'no such directory', { host: 'h', rank: 3, data: { path: '/x' },
        cause: new StciError('STCI_OUTPUT_FAILED', 'full') });
    });
    const told: (StciError | undefined)[] = [];
    net.nodes[0]?.messages.request(addressOf(2), 'job.restarting.noted', {}, (error) => told.push(error));
    net.until(() => told.length > 0, 'the error');
    const [error] = told;
    assert.ok(error instanceof StciError);
    assert.equal([error?.code, error?.host, error?.rank, error?.data, error?.agent], ['STCI_PROGRAM_WDIR', 'h', 3,
      { path: '/x' }, 'root:1']);
    assert.is((error?.cause as StciError).code, 'STCI_OUTPUT_FAILED');
    net.nodes[2]?.messages.on('agent.leave', () => { throw new TypeError('oops'); });
    net.nodes[0]?.messages.request(addressOf(2), 'agent.leave', {}, (fault) => told.push(fault));
    net.until(() => told.length > 1, 'the fault');
    assert.equal([told[1]?.code, told[1]?.message], ['STCI_INTERNAL', 'TypeError: oops']);
  });

  test('an error record of a code that is not known here becomes STCI_INTERNAL with the code in its data', () => {
    const net = makeNet(line(2));
    const told: (StciError | undefined)[] = [];
    // It never receives the requests: the replies are made here.
    net.channels[1]?.[0].readable(false);
    const replies = [{ code: 'STCI_FROM_THE_FUTURE', message: 'new' }, 'no record at all', { code: 5 }, null];
    const bodies = [...replies.map(encode), new Uint8Array(0), Uint8Array.of(0xff)];
    for (const [i, body] of bodies.entries()) {
      net.nodes[0]?.messages.request(addressOf(1), 'agent.echo', i, (error) => told.push(error));
      const flags = FLAG.reply | FLAG.error;
      const header = { ...HEADER, flags, source: addressOf(1), destination: addressOf(0), sequence: i + 1 };
      linkOf(net, 1, 0).send([encodeHeader(header, body.length), body]);
    }
    net.run(50);
    assert.equal(told.filter((error) => error?.data['code'] === 'STCI_FROM_THE_FUTURE').length, 1);
    assert.is(told.length, bodies.length, 'every request has its answer');
    assert.ok(told.every((error) => error instanceof StciError));
  });

  test('a reply over the bound is an error reply', () => {
    const net = makeNet(line(2), { 'message.bytes.max': '64KiB' });
    net.nodes[1]?.messages.on('job.restarting.noted', () => new Uint8Array(100_000));
    const told: (string | undefined)[] = [];
    net.nodes[0]?.messages.request(addressOf(1), 'job.restarting.noted', {}, (error) => told.push(error?.code));
    net.run(50);
    assert.equal(told, ['STCI_MESSAGE_TOO_LARGE']);
  });

  test('a request that cannot be sent is told by its callback', () => {
    const net = makeNet(line(2));
    const told: string[] = [];
    net.nodes[0]?.messages.request(sessionAddress(5), 'agent.echo', 1, (error) => told.push(error?.code ?? 'fine'));
    assert.equal(told, ['STCI_MESSAGE_UNROUTABLE']);
  });

  test('no more than 65 536 requests wait at once', () => {
    const net = makeNet(line(2));
    net.channels[1]?.[1].readable(false);
    const codes: string[] = [];
    for (let i = 0; i < 65_537; i++) {
      net.nodes[1]?.messages.request(addressOf(0), 'agent.echo', 0, (error) => codes.push(error?.code ?? 'fine'),
        { timeoutMs: 1000 });
    }
    assert.equal(codes, ['STCI_REQUEST_LIMIT']);
    net.nodes[1]?.close();
    assert.equal([codes.length, codes[1], codes.at(-1)], [65_537, 'STCI_LINK_CLOSED', 'STCI_LINK_CLOSED']);
  }, { timeoutMs: 30_000 });

  test('a message to oneself takes the same way through the queue', () => {
    const net = makeNet(line(2));
    const heard = hear(net, 1);
    net.nodes[1]?.messages.send(addressOf(1), 'agent.stop', { reason: 'me' });
    assert.equal(heard, []);
    net.run();
    assert.equal([heard.length, ask(net, 1, addressOf(1), 'x').reply], [1, 'x']);
  });

  test('a flood of messages stops the reading of links, and loses none', () => {
    const net = makeNet(line(2), { 'event.queue.max': '1024', 'event.turn.max': '16' });
    const heard = hear(net, 1);
    for (let i = 0; i < 5000; i++) net.nodes[0]?.messages.send(addressOf(1), 'agent.stop', { reason: String(i) });
    net.until(() => heard.length === 5000, 'all of them');
    assert.equal([net.faults, heard[4999]], [[], '0 4999']);
  });

  test('nothing is lost either where the queue is the smallest, and a chunk brings more than it holds', () => {
    const net = makeNet(line(2), { 'event.queue.max': '64', 'event.turn.max': '1' });
    const heard = hear(net, 1);
    for (let i = 0; i < 3000; i++) net.nodes[0]?.messages.send(addressOf(1), 'agent.stop', { reason: String(i) });
    for (let i = 0; i < 3000; i++) net.nodes[1]?.messages.send(addressOf(1), 'agent.stop', { reason: String(i) });
    net.until(() => heard.length === 6000, 'all of them');
    assert.equal(net.faults, []);
  });

  test('neighbour and subtree frames that pretend another source do no harm', () => {
    const net = makeNet(line(3));
    for (const destination of [NEIGHBOUR, SUBTREE, addressOf(2), 0x7000_0000]) {
      linkOf(net, 0, 1).send([encodeHeader({ ...HEADER, source: 0x7fff_ffff, flags: FLAG.request, destination }, 1),
        encode(1)]);
    }
    net.run();
    assert.is(ask(net, 0, addressOf(2), 'fine').reply, 'fine');
  });
});
