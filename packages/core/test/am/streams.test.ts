/** Streams between nodes: credit, order, reductions over several trees, and what happens when a member fails. */

import { DEFAULT_STREAM, type Reduction, type StciError, type StreamSpec } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { encode } from '../../dist/codec/cbor.js';
import { FLAG, LAYER, decodeHeader, encodeHeader } from '../../dist/codec/frame.js';
import type { StreamEndpoint } from '../../dist/streams/stream-endpoint.js';
import { addressOf, ask, line, makeNet, star, tree, type Net } from './net.js';
import { all, listener, open, specOf, type Heard } from './stream-help.js';

const KIB = 1024;

suite('streams without reduction', (test) => {
  test('up: nothing lost, nothing doubled, each source in its order', () => {
    const { net, heard, streams } = open(makeNet(tree(10, 3)), specOf(all(10), 'tree:arity=2', 'none'));
    for (let n = 0; n < 40; n++) for (let i = 1; i < 10; i++) streams[i]?.up([i, n, new Uint8Array(n * 2000)]);
    net.until(() => heard[0]?.ups.length === 360, 'all contributions');
    for (let i = 1; i < 10; i++) {
      const own = (heard[0] as Heard).ups.filter(({ source }) => source === addressOf(i)).map(({ data }) =>
        (data as number[])[1]);
      assert.equal(own, all(40));
    }
    assert.equal(net.faults, []);
  });

  test('down: to all, and to one of them', () => {
    const { net, root, heard } = open(makeNet(tree(13, 3)), specOf(all(13), 'tree:arity=2', 'none'));
    for (let n = 0; n < 20; n++) root.down(n);
    root.down('only you', addressOf(7));
    root.down(new Uint8Array(200_000).fill(7));
    net.run();
    for (let i = 1; i < 13; i++) {
      const got = (heard[i] as Heard).downs.map(({ data }) => (data instanceof Uint8Array ? data.length : data));
      // What is for one takes the shortest way: it may overtake what is for all.
      assert.equal(got.filter((data) => data !== 'only you'), [...all(20), 200_000], `node ${i}`);
      assert.is(got.filter((data) => data === 'only you').length, i === 7 ? 1 : 0);
    }
  });

  test('what its window has no room for is a fault that is told, and not lost without a word', () => {
    const { net, root } = open(makeNet(line(2), { 'bootcom.queue.max': '4MiB' }), specOf(all(2), 'tree', 'none'));
    for (const { messages } of net.nodes) messages.transport.isGone = () => false;
    net.channels[1]?.[0].destroy('cut');
    net.until(() => net.closed.length === 2, 'both ends know');
    for (let n = 0; n < 24; n++) root.down(new Uint8Array(KIB * KIB));
    assert.match(net.faults.join('\n'), /^controller: stream: STCI_MESSAGE_WINDOW: root:0 has not acknowledged/mu);
  });

  test('what came before it over the same link is handled first, messages of others included', () => {
    const { net, heard, streams } = open(makeNet(star(4)), specOf([1, 2, 3], 'tree:arity=3', 'none'), 1);
    const told: number[] = [];
    net.nodes[1]?.messages.on('session.ready', () => void told.push(heard[1]?.ups.length ?? -1));
    for (let n = 0; n < 100; n++) net.nodes[0]?.messages.send(addressOf(1), 'session.ready', {});
    for (let n = 0; n < 10; n++) for (const i of [2, 3]) streams[i]?.up([i, n]);
    net.until(() => heard[1]?.ups.length === 20, 'all contributions');
    assert.equal(told, Array.from({ length: 100 }, () => 0));
    const ofTwo = (heard[1] as Heard).ups.map(({ data }) => data as number[]).filter(([node]) => node === 2);
    assert.equal(ofTwo, all(10).map((n) => [2, n]));
    assert.equal(net.faults, []);
  });

  test('a slow reader stops its producer: what is under way stays within the window and one chunk', () => {
    const window = 256 * KIB;
    const net = makeNet(line(4), { 'iof.window': '256KiB' });
    const { heard, streams } = open(net, specOf(all(4), 'tree:arity=1', 'none'), 0, true);
    const chunk = new Uint8Array(10_000);
    let [sent, mostUnread] = [0, 0];
    const root = heard[0] as Heard;
    const producer = heard[3] as Heard;
    const next = seededIntegers(11);
    let released = 0;
    let goesOn = true;
    for (let round = 0; round < 400; round++) {
      while (goesOn) {
        goesOn = streams[3]?.up(chunk) ?? false;
        sent += 1;
      }
      net.run(5);
      mostUnread = Math.max(mostUnread, (sent - released) * chunk.length);
      for (let n = next(6); n > 0 && released < root.ups.length; n--) root.ups[released++]?.release();
      const before = producer.credits;
      net.run(5);
      goesOn = producer.credits > before;
    }
    assert.ok(sent > 200, `${sent} chunks moved`);
    assert.ok(mostUnread <= window + chunk.length * 1.1, `${mostUnread} bytes were under way`);
    assert.equal(root.ups.length, sent, 'nothing lost, nothing doubled');
  });

  test('releasing twice, and after the close, gives nothing back', () => {
    const net = makeNet(line(2), { 'iof.window': '256KiB' });
    const { heard, streams, root } = open(net, specOf(all(2), 'tree:arity=1', 'none'), 0, true);
    const stream = streams[1] as StreamEndpoint;
    while (stream.up(new Uint8Array(50_000)));
    net.run();
    const first = (heard[0] as Heard).ups[0];
    for (let i = 0; i < 10; i++) first?.release();
    net.run();
    assert.ok(stream.upCreditBytes <= 0);
    assert.is(heard[1]?.credits, 0);
    root.close();
    for (const { release } of (heard[0] as Heard).ups) release();
    net.run();
    assert.equal([net.faults, heard[1]?.credits], [[], 0]);
  });

  test('down under credit: the slowest member stops the root, and only what goes to it', () => {
    const net = makeNet(star(4), { 'iof.window': '256KiB' });
    const { heard, root } = open(net, specOf(all(4), 'tree:arity=3', 'none'), 0, true);
    const chunk = new Uint8Array(50_000);
    let sent = 0;
    do sent += 1; while (root.down(chunk));
    assert.ok(sent >= 5 && sent <= 7, `${sent} chunks of 50 kB for a window of 256 KiB`);
    net.run();
    const releaseAll = (i: number): void => (heard[i] as Heard).downs.splice(0).forEach(({ release }) => release());
    releaseAll(1);
    releaseAll(2);
    net.run();
    assert.is(heard[0]?.credits, 0, 'node 3 has not read yet');
    // To one that reads, more may go, whatever the others do.
    while (root.down(chunk, addressOf(1)));
    net.run();
    releaseAll(1);
    net.run();
    assert.is(heard[0]?.credits, 1, 'told for the one that was waited for');
    releaseAll(3);
    net.run();
    assert.is(heard[0]?.credits, 2);
  });

  test('a member that is dropped holds back nobody', () => {
    const net = makeNet(star(3), { 'iof.window': '256KiB' });
    const { heard, root } = open(net, specOf(all(3), 'tree:arity=2', 'none'), 0, true);
    while (root.down(new Uint8Array(50_000)));
    net.run();
    (heard[1] as Heard).downs.forEach(({ release }) => release());
    net.run();
    assert.is(heard[0]?.credits, 0);
    (root as StreamEndpoint).drop(addressOf(2));
    assert.is(heard[0]?.credits, 1);
    assert.ok(root.down(1));
    (root as StreamEndpoint).drop(addressOf(2));
    assert.is(heard[0]?.credits, 1);
  });
});

suite('streams with reduction', (test) => {
  const trees = ['tree:arity=1', 'tree:arity=2', 'tree:arity=3', 'tree:arity=4', 'bmg', 'mesh:dimensions=3x4'];
  const expected: [Reduction, (i: number, round: number) => unknown, (round: number) => unknown][] = [
    ['sum', (i, round) => i * round, (round) => 66 * round],
    ['min', (i, round) => round - i, (round) => round - 11],
    ['max', (i, round) => round - i, (round) => round],
    ['and', (i, round) => round % 2 === 0 || i !== 7, (round) => round % 2 === 0],
    ['or', (i, round) => round % 2 === 1 && i === 7, (round) => round % 2 === 1],
    ['concat', (i, round) => (i % 3 === 0 ? [] : [i, `w${round}`]), (round) =>
      all(12).flatMap((i) => (i % 3 === 0 ? [] : [i, `w${round}`]))],
  ];
  for (const topology of trees) {
    test(`every reduction over ${topology}, members running ahead of each other`, () => {
      for (const [reduction, value, result] of expected) {
        const net = makeNet(tree(12, 2));
        const { heard, streams } = open(net, specOf(all(12), topology, reduction));
        const next = seededIntegers(5);
        const round = all(12).map(() => 0);
        for (let left = 12 * 30; left > 0; ) {
          const i = next(12);
          if ((round[i] as number) >= 30) continue;
          round[i] = (round[i] as number) + 1;
          assert.is(streams[i]?.up(value(i, round[i] as number)), true, 'nobody waits for room');
          left -= 1;
          if (next(4) === 0) net.run(0.05);
        }
        net.until(() => heard[0]?.ups.length === 30, `all rounds of ${reduction}`);
        assert.equal(heard[0]?.ups.map(({ data }) => data), all(30).map((n) => result(n + 1)), reduction);
        assert.equal(net.faults, []);
      }
    });
  }

  test('the root may be any agent, and the members some of them', () => {
    const net = makeNet(tree(15, 2));
    const members = [9, 3, 14, 0, 5];
    const { heard, streams } = open(net, specOf(members, 'tree:arity=2', 'concat'), 9);
    for (const i of members) streams[i]?.up([i]);
    net.run();
    assert.equal(heard[9]?.ups.map(({ data }) => data), [members]);
  });

  test('a contribution of 300 kB a member is put together on the way', () => {
    const net = makeNet(line(5));
    const { heard, streams } = open(net, specOf(all(5), 'tree:arity=1', 'concat'));
    for (const i of all(5)) streams[i]?.up([new Uint8Array(300_000).fill(i)]);
    net.run();
    const [round] = (heard[0] as Heard).ups;
    assert.equal((round?.data as Uint8Array[]).map((part) => [part.length, part[0], part.at(-1)]),
      all(5).map((i) => [300_000, i, i]));
  });

  test('a round that one member misses is a fault at its deadline, and closes the stream', () => {
    const net = makeNet(star(4), { 'request.timeout': '2s' });
    const { heard, streams, root } = open(net, specOf(all(4), 'tree:arity=3', 'sum'));
    for (const i of [0, 1, 2]) streams[i]?.up(1);
    net.run(1900);
    assert.is(heard[0]?.faults.length, 0);
    net.run(200);
    assert.equal(heard[0]?.faults.map(({ code }) => code), ['STCI_STREAM_INVALID']);
    assert.match(heard[0]?.faults[0]?.message ?? '', /Round 1 of stream 2 .* 2000 ms \(request\.timeout\)/);
    streams[3]?.up(1);
    root.up(1);
    net.run(5000);
    assert.equal([heard[0]?.ups.length, heard[0]?.faults.length], [0, 1]);
  });

  test('data that cannot be combined is a fault where it meets', () => {
    for (const [reduction, bad] of [['sum', 'x'], ['and', 1], ['concat', 5], ['min', null]] as const) {
      const net = makeNet(star(3), { 'request.timeout': '2s' });
      const { heard, streams } = open(net, specOf(all(3), 'tree:arity=2', reduction));
      const good = { sum: 1, and: true, concat: [1], min: 1 }[reduction];
      if (reduction === 'concat') assert.throwsCode('STCI_STREAM_INVALID', () => streams[1]?.up(bad));
      else streams[1]?.up(bad);
      for (const i of [0, 2]) streams[i]?.up(good);
      net.run(5000);
      assert.equal(heard[0]?.faults.map(({ code }) => code), ['STCI_STREAM_INVALID'], reduction);
    }
  });

  test('a contribution that is none of its reduction is the fault of who sent it, not of the stream', () => {
    const net = makeNet(star(3));
    for (const [reduction, bad] of [['concat', [1]], ['concat', 'x'], ['none', 1]] as const) {
      const { root, heard, streams } = open(net, specOf(all(3), 'tree:arity=2', reduction));
      const body = encode(bad);
      const header = { layer: LAYER.stream, type: 1, flags: FLAG.reduce, ttl: 8, stream: 2, source: addressOf(1),
        destination: addressOf(0), job: 0, sequence: 1 };
      const frame = decodeHeader(new Uint8Array([...encodeHeader(header, body.length), ...body]));
      assert.throwsCode('STCI_MESSAGE_INVALID', () => (streams[0] as StreamEndpoint).receive(frame, body));
      assert.equal(heard[0]?.faults, []);
      root.close();
      net.run();
    }
  });

  test('a member that runs too far ahead is a fault, not memory', () => {
    const net = makeNet(star(3), { 'request.timeout': '60s' });
    const { heard, streams } = open(net, specOf(all(3), 'tree:arity=2', 'sum'));
    for (let n = 0; n < 1100; n++) streams[1]?.up(1);
    net.run();
    assert.match(heard[0]?.faults[0]?.message ?? '', /More than 1024 rounds/);
    assert.is(heard[0]?.faults.length, 1);
  });
});

suite('opening and closing streams', (test) => {
  const failed = (net: Net, spec: StreamSpec): StciError | undefined => {
    const done: (StciError | undefined)[] = [];
    net.nodes[0]?.streams.open(spec, listener().events, (error) => done.push(error));
    net.until(() => done.length > 0, 'an answer');
    net.run();
    assert.is(done.length, 1);
    return done[0];
  };

  test('a spec that cannot be is refused at once', () => {
    const net = makeNet(star(3));
    const bad = [specOf([1, 0], 'tree', 'none'), specOf([0], 'tree', 'none'),
      specOf([0, 1], 'tree', 'none', 1), specOf([0, 1], 'tree', 'none', 65_536)];
    for (const spec of bad) assert.is(failed(net, spec)?.code, 'STCI_STREAM_INVALID');
    assert.ok(failed(net, specOf([0, 1], 'nosuch', 'none')) !== undefined, 'an unknown kind of topology');
    open(net, specOf([0, 1], 'tree', 'none'));
    assert.match(failed(net, specOf([0, 1], 'tree', 'none'))?.message ?? '', /open already/);
  });

  test('a member that takes part in none, or is not there, fails the open; the others are told', () => {
    const net = makeNet(star(3));
    const { heard, events } = listener();
    net.nodes[1]?.streams.accept(() => events);
    assert.match(failed(net, specOf([0, 1, 2], 'tree', 'none'))?.message ?? '', /takes part in no streams/);
    assert.is(failed(net, specOf([0, 1, 77], 'tree', 'none'))?.code, 'STCI_MESSAGE_UNROUTABLE');
    net.nodes[2]?.streams.accept(() => listener().events);
    const { root } = open(net, specOf([0, 1, 2], 'tree', 'none'));
    root.down('again');
    net.run();
    assert.equal([heard.downs.length, net.faults.filter((text) => !text.includes('No route'))], [0, []]);
  });

  test('a spec from the wire that is none is answered with an error', () => {
    const net = makeNet(line(2));
    net.nodes[1]?.streams.accept(() => listener().events);
    const members = [addressOf(0), addressOf(1)];
    const bad: unknown[] = [{}, { id: 2 }, { id: 2, members: 5 },
      { id: 2, members: [0], topology: {}, reduction: 'none' },
      { id: 2, members, topology: 'tree', reduction: 'average' }, { id: 2, members, reduction: 'none' },
      { id: 1, members, topology: 'tree', reduction: 'none' }, { id: 'x', members,
        topology: 'tree', reduction: 'sum' }];
    for (const spec of bad) {
      const told: (StciError | undefined)[] = [];
      net.nodes[0]?.messages.request(addressOf(1), 'stream.open', spec as StreamSpec, (error) => told.push(error));
      net.run(50);
      assert.match(told[0]?.code ?? 'no error', /^STCI_(STREAM|MESSAGE)_INVALID$/, JSON.stringify(spec));
    }
    assert.is(ask(net, 0, addressOf(1), 1).reply, 1);
  });

  test('close is told to all members; what comes after it is nobody\'s', () => {
    const net = makeNet(star(3));
    const { heard, root, streams } = open(net, specOf(all(3), 'tree:arity=2', 'none'));
    root.close();
    root.close();
    net.run();
    for (const stream of streams) assert.is(stream?.up(1), true, 'nobody waits for room');
    assert.is((streams[1] as StreamEndpoint).upPieces([new Uint8Array(1)]), true);
    root.down(1);
    net.run();
    assert.equal(heard.map(({ ups, downs, faults }) => ups.length + downs.length + faults.length), [0, 0, 0]);
    const again = open(net, specOf(all(3), 'tree:arity=2', 'none'));
    again.streams[1]?.up('fresh');
    net.run();
    assert.equal(again.heard[0]?.ups.map(({ data }) => data), ['fresh'], 'the id can be used again');
  });

  test('frames that come before the open wait for it, in order', () => {
    const net = makeNet(line(2));
    const link = net.nodes[1]?.router.link(addressOf(0));
    for (let n = 1; n <= 5; n++) {
      const body = encode(n);
      const header = { layer: LAYER.stream, type: 1, flags: 0, ttl: 8, stream: 9, source: addressOf(1),
        destination: addressOf(0), job: 0, sequence: n };
      link?.send([encodeHeader(header, body.length), body]);
    }
    net.run();
    const { heard } = open(net, specOf(all(2), 'tree', 'none', 9));
    assert.equal(heard[0]?.ups.map(({ data }) => data), [1, 2, 3, 4, 5]);
  });

  test('frames of streams that never open are bounded and forgotten', () => {
    const net = makeNet(line(2), { 'request.timeout': '1s' });
    const link = net.nodes[1]?.router.link(addressOf(0));
    const send = (stream: number, n: number): void => {
      const body = encode(n);
      const header = { layer: LAYER.stream, type: 1, flags: 0, ttl: 8, stream, source: addressOf(1),
        destination: addressOf(0), job: 0, sequence: n };
      link?.send([encodeHeader(header, body.length), body]);
    };
    for (let n = 0; n < 1100; n++) send(50, n);
    net.run();
    net.run(2000);
    for (let n = 0; n < 3; n++) send(9, n);
    net.run();
    assert.equal(open(net, specOf(all(2), 'tree', 'none', 9)).heard[0]?.ups.map(({ data }) => data), [0, 1, 2]);
  });

  for (const id of [DEFAULT_STREAM, 9]) {
    test(`stream ${id}: what has no room before the open is sent again`, () => {
      const net = makeNet(line(2));
      const spec = specOf(all(2), 'tree', 'none', id);
      const sender = net.nodes[1]?.streams.attach(spec, listener().events);
      for (let n = 0; n < 1100; n++) sender?.up(n);
      net.run(100);
      const { heard, events } = listener();
      net.nodes[0]?.streams.attach(spec, events);
      net.until(() => heard.ups.length === 1100, 'all contributions');
      assert.equal(heard.ups.map(({ data }) => data), all(1100));
      assert.equal(net.faults, []);
    });
  }

  test('hostile frames on an open stream are faults, and the stream goes on', () => {
    const net = makeNet(line(2));
    const { heard, streams } = open(net, specOf(all(2), 'tree', 'none'));
    const link = net.nodes[1]?.router.link(addressOf(0));
    const next = seededIntegers(3);
    for (let n = 0; n < 500; n++) {
      const body = Uint8Array.from({ length: next(12) }, () => next(256));
      const flags = next(256) & ~FLAG.more;
      const header = { layer: LAYER.stream, type: next(7), flags, ttl: 8, stream: 2, source: next(4),
        destination: addressOf(0), job: 0, sequence: n };
      link?.send([encodeHeader(header, body.length), body]);
    }
    net.run();
    const before = (heard[0] as Heard).ups.length;
    streams[1]?.up('fine');
    net.run();
    assert.equal((heard[0] as Heard).ups.slice(before).map(({ data }) => data), ['fine']);
  });

  test('two streams of one source do not mix, even in fragments over different ways', () => {
    const net = makeNet(tree(7, 2));
    const one = open(net, specOf([0, 1, 3], 'tree:arity=1', 'none', 2));
    const two = open(net, specOf([0, 3], 'tree:arity=1', 'none', 3));
    for (let n = 0; n < 10; n++) {
      one.root.down(new Uint8Array(150_000).fill(1));
      two.root.down(new Uint8Array(150_000).fill(2));
    }
    net.run();
    const bytes = (heard: Heard | undefined): number[] =>
      (heard?.downs ?? []).map(({ data }) => new Set(data as Uint8Array).size);
    assert.equal([bytes(one.heard[3]), bytes(two.heard[3])], [new Array<number>(10).fill(1),
      new Array<number>(10).fill(1)]);
    assert.equal(net.faults, []);
  });
});
