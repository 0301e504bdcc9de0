/** The stream of a job between nodes: credit, order, frames that come too early, and members that leave. */

import { assert, seededIntegers, suite } from '@stci/testkit';
import { encode } from '../../dist/codec/cbor.js';
import { FLAG, LAYER, encodeHeader } from '../../dist/codec/frame.js';
import type { StreamEndpoint } from '../../dist/streams/stream-endpoint.js';
import { addressOf, line, makeNet, star, tree, type Net } from '../am/net.js';
import { all, attach, open, up, type Heard } from './stream-help.js';

const KIB = 1024;
const WINDOW = 256 * KIB;

suite('the stream of a job', (test) => {
  test('up: nothing lost, nothing doubled, each source in its order', () => {
    const { net, heard, streams } = open(makeNet(tree(10, 3)));
    for (let n = 0; n < 40; n++) for (let i = 1; i < 10; i++) up(streams[i], [i, n, new Uint8Array(n * 2000)]);
    net.until(() => heard[0]?.ups.length === 360, 'all contributions');
    for (let i = 1; i < 10; i++) {
      const own = (heard[0] as Heard).ups.map(({ data }) => data as number[]).filter(([source]) => source === i);
      assert.equal(own.map(([, n]) => n), all(40));
    }
    assert.equal(net.faults, []);
  });

  test('down: to all, and to one of them', () => {
    const { net, root, heard } = open(makeNet(tree(13, 3)));
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
    const { net, root } = open(makeNet(line(2), { 'bootcom.queue.max': '4MiB' }), { creditBytes: 64 * KIB * KIB });
    for (const { messages } of net.nodes) messages.transport.isGone = () => false;
    net.channels[1]?.[0].destroy('cut');
    net.until(() => net.closed.length === 2, 'both ends know');
    for (let n = 0; n < 24; n++) root.down(new Uint8Array(KIB * KIB), addressOf(1));
    assert.match(net.faults.join('\n'), /^controller: stream: STCI_MESSAGE_WINDOW: root:0 has not acknowledged/mu);
  });

  test('what came before it over the same link is handled first, messages of others included', () => {
    const { net, heard, streams } = open(makeNet([0, 0, 1, 1]));
    const told: number[] = [];
    net.nodes[0]?.messages.on('failure.interest', () => void told.push(heard[0]?.ups.length ?? -1));
    for (let n = 0; n < 100; n++) net.nodes[1]?.messages.send(addressOf(0), 'failure.interest', {});
    for (let n = 0; n < 10; n++) for (const i of [2, 3]) up(streams[i], [i, n]);
    net.until(() => heard[0]?.ups.length === 20, 'all contributions');
    assert.equal(told, Array.from({ length: 100 }, () => 0));
    const ofTwo = (heard[0] as Heard).ups.map(({ data }) => data as number[]).filter(([node]) => node === 2);
    assert.equal(ofTwo, all(10).map((n) => [2, n]));
    assert.equal(net.faults, []);
  });

  test('a slow reader stops its producer: what is under way stays within the window and one chunk', () => {
    const net = makeNet(line(4));
    const { heard, streams } = open(net, { keep: true, creditBytes: WINDOW });
    const chunk = new Uint8Array(10_000);
    let [sent, mostUnread] = [0, 0];
    const root = heard[0] as Heard;
    const producer = heard[3] as Heard;
    const next = seededIntegers(11);
    let released = 0;
    let goesOn = true;
    for (let round = 0; round < 400; round++) {
      while (goesOn) {
        goesOn = up(streams[3], chunk);
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
    assert.ok(mostUnread <= WINDOW + chunk.length * 1.1, `${mostUnread} bytes were under way`);
    assert.equal(root.ups.length, sent, 'nothing lost, nothing doubled');
  });

  test('releasing twice, and after the close, gives nothing back', () => {
    const net = makeNet(line(2));
    const { heard, streams, root } = open(net, { keep: true, creditBytes: WINDOW });
    const stream = streams[1] as StreamEndpoint;
    while (up(stream, new Uint8Array(50_000)));
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
    const net = makeNet(star(4));
    const { heard, root } = open(net, { keep: true, creditBytes: WINDOW });
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
    const net = makeNet(star(3));
    const { heard, root } = open(net, { keep: true, creditBytes: WINDOW });
    while (root.down(new Uint8Array(50_000)));
    net.run();
    (heard[1] as Heard).downs.forEach(({ release }) => release());
    net.run();
    assert.is(heard[0]?.credits, 0);
    root.drop(addressOf(2));
    assert.is(heard[0]?.credits, 1);
    assert.ok(root.down(1));
    root.drop(addressOf(2));
    assert.is(heard[0]?.credits, 1);
  });

  test('what a dropped member sent gives no credit to the one that has its address after it', () => {
    const net = makeNet(star(3));
    const { heard, root, streams } = open(net, { keep: true, creditBytes: WINDOW });
    while (up(streams[2], new Uint8Array(50_000)));
    net.run();
    const { ups } = heard[0] as Heard;
    assert.ok(ups.length > 4);
    root.drop(addressOf(2));
    for (const { release } of ups) release();
    net.run();
    assert.is(heard[2]?.credits, 0);
  });
});

/** From node 1 to node 0, or others, not numbered, as one that breaks the rules may. */
function send(net: Net, data: unknown, job = 0, type = 1, from = 1, to = 0): void {
  const body = encode(data);
  const header = {
    layer: LAYER.stream, type, flags: 0, ttl: 8, stream: 1, source: addressOf(from), destination: addressOf(to), job,
    sequence: 1,
  };
  net.nodes[from]?.router.link(addressOf(to))?.send([encodeHeader(header, body.length), body]);
}

suite('frames of streams', (test) => {
  test('those that come before the open wait for it, in order', () => {
    const net = makeNet(line(2));
    for (let n = 1; n <= 5; n++) send(net, n);
    net.run();
    const { heard } = attach(net, 0);
    assert.equal(heard.ups.map(({ data }) => data), [1, 2, 3, 4, 5]);
  });

  test('those of streams that never open are bounded and forgotten', () => {
    const net = makeNet(line(2), { 'request.timeout': '1s' });
    for (let n = 0; n < 1100; n++) send(net, n, 50);
    net.run();
    assert.ok((net.nodes[0]?.streams.earlyBytes ?? 0) > 0);
    net.run(2000);
    for (let n = 0; n < 3; n++) send(net, n);
    net.run();
    assert.equal(attach(net, 0).heard.ups.map(({ data }) => data), [0, 1, 2]);
  });

  test('what has no room before the open is sent again', () => {
    const net = makeNet(line(2));
    const { stream } = attach(net, 1);
    for (let n = 0; n < 1100; n++) up(stream, n);
    net.run(100);
    const { heard } = attach(net, 0);
    net.until(() => heard.ups.length === 1100, 'all contributions');
    assert.equal(heard.ups.map(({ data }) => data), all(1100));
    assert.equal(net.faults, []);
  });

  test('what comes after the close is nobody\'s; the job\'s stream may be opened again', () => {
    const net = makeNet(star(2));
    const { heard, root, streams } = open(net);
    root.close();
    root.close();
    root.down(1);
    net.run();
    assert.equal([heard[0]?.ups, heard[1]?.downs], [[], []]);
    const again = attach(net, 0);
    up(streams[1], 'fresh');
    net.run();
    assert.equal(again.heard.ups.map(({ data }) => data), ['fresh']);
  });

  test('data goes up from members, and down from the controller; so does credit, and nothing else', () => {
    for (const [type, from, to] of [[1, 2, 0], [2, 1, 0], [3, 1, 0], [1, 0, 1], [2, 2, 1], [4, 0, 1]] as const) {
      const net = makeNet(to === 0 ? star(3) : line(3));
      const { heard } = open(net, { members: [1] });
      send(net, 'x', 0, type, from, to);
      net.run();
      assert.equal([heard[0]?.ups, heard[1]?.downs], [[], []]);
      assert.match(net.faults.join(), new RegExp(`may not send frames of type ${type} on the stream of job 0`, 'u'));
    }
  });

  test('hostile frames on an open stream are faults, and the stream goes on', () => {
    const net = makeNet(line(2));
    const { heard, streams } = open(net);
    const link = net.nodes[1]?.router.link(addressOf(0));
    const next = seededIntegers(3);
    for (let n = 0; n < 500; n++) {
      const body = Uint8Array.from({ length: next(12) }, () => next(256));
      const flags = next(256) & ~FLAG.more;
      const header = { layer: LAYER.stream, type: next(7), flags, ttl: 8, stream: next(3), source: next(4),
        destination: addressOf(0), job: 0, sequence: n };
      link?.send([encodeHeader(header, body.length), body]);
    }
    net.run();
    const before = (heard[0] as Heard).ups.length;
    up(streams[1], 'fine');
    net.run();
    assert.equal((heard[0] as Heard).ups.slice(before).map(({ data }) => data), ['fine']);
  });
});
