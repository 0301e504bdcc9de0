/** The order in which messages that wait are handled. */

import { CONTROLLER, rootAddress, sessionAddress } from '@stci/interface';
import { assert, suite, seeded } from '@stci/testkit';
import { DispatchQueue, type Received, type ReceivedFrame } from '../../dist/am/dispatch-queue.js';
import type { Link } from '../../dist/bootcom/link.js';
import { LAYER, decodeHeader, encodeHeader, type Frame } from '../../dist/codec/frame.js';

const linkTo = (host: number): Link => ({ peer: rootAddress(host), role: 'child', job: 0 }) as Link;

const frameOf = (host: number, sequence: number): Frame => encodeHeader({
  layer: LAYER.stream, type: 1, flags: 0, ttl: 64, stream: 1, source: sessionAddress(host), destination: CONTROLLER,
  job: 1, sequence,
}, 0);

suite('dispatch queue', (test) => {
  const message = (type: number, from: Link | undefined): Received =>
    ({ header: { type, source: from?.peer ?? CONTROLLER, job: 0 }, body: new Uint8Array(), from }) as Received;

  function order(...messages: readonly Received[]): number[] {
    const queue = new DispatchQueue();
    for (const each of messages) queue.push(each);
    return messages.map(() => (queue.take() as Received).header.type);
  }

  test('links take turns, each in order', () => {
    const [a, b] = [linkTo(0), linkTo(1)];
    assert.equal(order(message(1, a), message(2, a), message(3, a), message(4, b)), [1, 4, 2, 3]);
  });

  test('a message to oneself comes after all that came before it, and holds up none that came later', () => {
    const [a, b] = [linkTo(0), linkTo(1)];
    const own = message(9, undefined);
    assert.equal(order(message(1, a), message(2, a), own, message(3, b)), [1, 3, 2, 9]);
    assert.equal(order(own, message(1, a), message(2, undefined), message(3, b)), [9, 1, 3, 2]);
  });

  test('messages of one source stay in order where its route changes from one link to another', () => {
    const [a, b] = [linkTo(0), { ...linkTo(1), role: 'parent' } as Link];
    const of = (type: number, from: Link): Received =>
      ({ header: { type, source: rootAddress(7), job: 0 }, body: new Uint8Array(), from }) as Received;
    assert.equal(order(message(1, a), of(2, a), of(3, b), message(4, b), of(5, a)), [1, 4, 2, 3, 5]);
    assert.equal(order(message(1, b), of(2, b), of(3, a), message(4, a), of(5, b)), [1, 2, 4, 3, 5]);
    const queue = new DispatchQueue();
    for (const each of [of(1, a), of(2, b)]) queue.push(each);
    assert.equal([queue.waiting(a), queue.waiting(b)], [1, 1]);
    for (let i = 0; i < 2; i++) queue.take();
    queue.push(of(3, b));
    assert.is(queue.waitingOf(rootAddress(7), 0, b), 1, 'in the queue of its source again');
    queue.drop(rootAddress(7), 0);
    assert.equal([queue.waiting(b), queue.take()], [0, undefined]);
    assert.is(queue.isBusy(a, rootAddress(7), 0), false, 'nothing waits of one whose messages were dropped');
  });

  test('what an agent says does not overtake its output that came over another link', () => {
    const [a, b, c] = [linkTo(0), linkTo(1), linkTo(2)];
    const of = (host: number, type: number, from: Link): Received =>
      ({ header: { type, source: sessionAddress(host), job: 1 }, body: new Uint8Array(), from }) as Received;
    const queue = new DispatchQueue();
    const all = [
      message(1, a), message(2, a), { frame: frameOf(7, 1), from: a }, { frame: frameOf(7, 2), from: c },
      of(7, 3, b), of(8, 4, b), of(9, 5, c),
    ];
    for (const each of all) queue.push(each);
    const [host, other] = [sessionAddress(7), sessionAddress(6)];
    assert.equal([a, b, c].map((link) => queue.isBusy(link, other, 1)), [true, true, true]);
    const idle = linkTo(3);
    assert.equal([queue.isBusy(idle, host, 1), queue.isBusy(idle, host, 2), queue.isBusy(idle, other, 1)],
      [true, false, false], 'a frame comes behind what waits of its source');
    const taken = all.map(() => queue.take() as Received | ReceivedFrame);
    const types = taken.map((each) =>
      ('frame' in each ? `frame ${decodeHeader(each.frame).sequence}` : each.header.type));
    assert.equal(types.filter((type) => type !== 4 && type !== 5), [1, 2, 'frame 1', 'frame 2', 3]);
    assert.is(queue.isBusy(idle, host, 1), false);
    queue.push(of(7, 6, b));
    assert.is((queue.take() as Received).header.type, 6, 'nothing of it waits any more');
  });

  test('what waits of a distant agent is counted, over the link to the parent; that of neighbours is not', () => {
    const parent = { peer: rootAddress(1), role: 'parent', job: 0 } as Link;
    const child = linkTo(2);
    const of = (source: number, from: Link, type = 0): Received =>
      ({ header: { type, source, job: 1 }, body: new Uint8Array(), from }) as Received;
    const [far, other] = [sessionAddress(7), sessionAddress(8)];
    const queue = new DispatchQueue();
    const counts = (): number[] => [queue.waitingOf(far, 1, parent), queue.waitingOf(other, 1, parent)];
    for (const source of [far, far, far, other, CONTROLLER, rootAddress(1)]) queue.push(of(source, parent));
    assert.equal(counts(), [3, 1]);
    const near = [CONTROLLER, rootAddress(1)].map((source) => queue.waitingOf(source, 1, parent));
    assert.equal(near, [0, 0]);
    assert.equal([queue.waitingOf(far, 2, parent), queue.waitingOf(sessionAddress(9), 1, parent)], [0, 0]);
    queue.push(of(sessionAddress(9), child));
    assert.is(queue.waitingOf(sessionAddress(9), 1, child), 0, 'one below is bounded by its link');
    const taken: unknown[] = [];
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      taken.push((next as Received).header.source);
      if (taken.length === 1) assert.equal(counts(), [2, 1]);
    }
    assert.equal(taken.slice(0, 5), [far, other, CONTROLLER, rootAddress(1), sessionAddress(9)]);
    assert.equal([taken.slice(5), counts(), queue.waiting(parent)], [[far, far], [0, 0], 0]);
  });

  test('one that waits makes its link and its source busy, a message as a frame', () => {
    const [a, idle] = [linkTo(0), linkTo(1)];
    const queue = new DispatchQueue();
    const busy = (): boolean[] => [
      queue.isBusy(a, rootAddress(9), 0), queue.isBusy(idle, rootAddress(0), 0),
      queue.isBusy(idle, sessionAddress(7), 1), queue.isBusy(idle, rootAddress(9), 0),
    ];
    assert.equal(busy(), [false, false, false, false]);
    queue.push(message(1, a));
    assert.equal(busy(), [true, true, false, false]);
    queue.take();
    queue.push({ frame: frameOf(7, 1), from: a });
    assert.equal(busy(), [true, false, true, false]);
    queue.take();
    assert.equal(busy(), [false, false, false, false]);
  });

  test('a frame of a stream comes after the messages of all that came before it over the link to the parent', () => {
    const parent = { peer: CONTROLLER, role: 'parent', job: 0 } as Link;
    const frame = frameOf(3, 1);
    const queue = new DispatchQueue();
    const messages = [message(1, parent), message(2, parent), { frame, from: parent }, message(3, parent)];
    for (const each of messages) queue.push(each);
    assert.is(queue.waiting(parent), 4);
    const taken = Array.from({ length: 5 }, () => queue.take());
    const types = taken.map((each) => (each === undefined ? 'none' : 'frame' in each ? 'frame' : each.header.type));
    assert.equal(types, [1, 2, 'frame', 3, 'none']);
    assert.is(queue.waiting(parent), 0);
    assert.is(queue.waitingOf(sessionAddress(3), 1, parent), 0);
  });

  test('whatever waits, something is served; nothing of a source overtakes what it must not', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const { below, pick } = seeded(seed);
      const links = [linkTo(0), linkTo(1), { ...linkTo(2), role: 'parent' } as Link];
      const queue = new DispatchQueue();
      const waiting = new Map<Received | ReceivedFrame, readonly [source: number, at: number]>();
      for (let step = 0; step < 60 || waiting.size > 0; step++) {
        if (step < 60 && below(5) < 3) {
          const [host, from] = [below(3), pick(links)];
          const isOwn = below(8) === 0;
          const source = isOwn ? rootAddress(9) : pick([sessionAddress(host), sessionAddress(host), CONTROLLER]);
          const one: Received | ReceivedFrame = !isOwn && below(2) === 0
            ? { frame: frameOf(host, step), from }
            : {
                header: { type: step, source, job: 1 } as never, body: new Uint8Array(),
                from: isOwn ? undefined : from,
              };
          waiting.set(one, ['frame' in one ? sessionAddress(host) : source, step]);
          queue.push(one);
          continue;
        }
        const one = queue.take();
        if (one === undefined) {
          assert.is(waiting.size, 0, `seed ${seed}: something waits, and nothing is served`);
          continue;
        }
        const [source, at] = waiting.get(one) as readonly [number, number];
        waiting.delete(one);
        const before = [...waiting].filter(([other, [of, step1]]) => of === source && step1 < at
          && (!('frame' in one) || !('frame' in other) || other.from === one.from));
        assert.equal(before.map(([, [, step1]]) => step1), [], `seed ${seed}: before ${at} of ${source}`);
      }
    }
  });
});
