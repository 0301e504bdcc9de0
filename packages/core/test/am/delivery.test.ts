/** Delivery between two agents: once and in order, whatever the routes between them lose, repeat and reorder. */

import { CONTROLLER, rootAddress, sessionAddress, type Address } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { AheadFrames } from '../../dist/am/ahead-frames.js';
import { DELIVERY_FRAME, DeliveryLayer } from '../../dist/am/delivery-layer.js';
import { Receiver, Sender } from '../../dist/am/delivery.js';
import { LAYER, encodeHeader, frameType, readDelivery, writeDelivery, type Frame } from '../../dist/codec/frame.js';
import type { AgentNode } from '../../dist/node/node.js';
import { Scope } from '../../dist/event/scope.js';
import { testPlace } from '../world.js';
import { FAR, NEAR, NO_LINK, Pair, WINDOW, header } from './delivery-pair.js';
import { addressOf, ask, line, makeNet, star } from './net.js';

suite('delivery', (test) => {
  test('a receiver that asks again and again for what is missing gets it twice a second', () => {
    const { platform } = testPlace();
    let [frames, nowMs] = [0, 0];
    const holds = new Scope('agent');
    const layer = new DeliveryLayer({
      router: { self: NEAR, job: 0, forward: () => (frames += 1) > 0 } as never,
      clock: { ...platform.clock, nowMs: () => nowMs },
      holds, incarnation: 1, windowBytes: WINDOW, ttl: 9, onUndeliverable: () => undefined,
    });
    for (let i = 0; i < 10; i++) layer.send(header, [encodeHeader(header, 4), new Uint8Array(4)]);
    const asked = encodeHeader({ ...header, layer: LAYER.delivery, type: DELIVERY_FRAME.missing, source: FAR,
      destination: NEAR }, 0);
    for (nowMs = 0; nowMs < 1000; nowMs += 10) layer.onFrame(asked);
    holds.close();
    assert.is(frames, 10 + 2 * 10);
  });

  test('a frame that overtook others waits for them: nothing more is asked for, again and again', () => {
    const answers: number[] = [];
    const holds = new Scope('agents');
    const layerOf = (self: Address, forward: (pieces: readonly Uint8Array[]) => void): DeliveryLayer =>
      new DeliveryLayer({
        router: { self, job: 0, forward: (...args: [Address, number, Uint8Array[]]) => forward(args[2]) } as never,
        clock: testPlace().platform.clock, holds, incarnation: 1, windowBytes: WINDOW, ttl: 9,
        onUndeliverable: () => undefined,
      });
    const sent: Frame[] = [];
    const sender = layerOf(NEAR, (pieces) => sent.push(new Uint8Array(Buffer.concat(pieces))));
    const receiver = layerOf(CONTROLLER, ([frame]) => answers.push(frameType(frame as Frame)));
    const got: number[] = [];
    const take = (frame: Frame): void => {
      if (!receiver.accepts(frame, NO_LINK)) return;
      got.push(readDelivery(frame).number);
      const next = receiver.next(frame);
      if (next !== undefined) take(next.frame);
    };
    for (let i = 0; i < 6; i++) {
      sender.send({ ...header, destination: CONTROLLER }, [encodeHeader({ ...header, destination: CONTROLLER }, 0)]);
    }
    for (const at of [1, 2, 0, 5, 4, 3]) take(sent[at] as Frame);
    assert.equal(got, [1, 2, 3, 4, 5, 6]);
    assert.equal(answers, [DELIVERY_FRAME.missing, DELIVERY_FRAME.missing], 'once for each gap');
    holds.close();
  });

  test('a notifier\'s message does not wait for what was lost before it; it is heard again in its turn', () => {
    const net = makeNet([0, 0]);
    const [sender, receiver] = net.nodes as [AgentNode, AgentNode];
    const heard: unknown[] = [];
    for (const name of ['agent.echo', 'detector.message'] as const) {
      receiver.messages.on(name, () => void heard.push(name));
    }
    receiver.messages.on('notifier.message', ({ body }) => void heard.push(body));
    const { router, messages } = sender;
    const forward = router.forward.bind(router);
    router.forward = () => true;
    messages.send(addressOf(1), 'agent.echo', 'lost');
    router.forward = forward;
    messages.send(addressOf(1), 'notifier.message', { notifier: 'bmg', incarnation: 0, body: 'news' });
    messages.send(addressOf(1), 'notifier.message', { notifier: 'bmg', incarnation: 0, body: 'x'.repeat(70_000) });
    messages.send(addressOf(1), 'detector.message', { detector: 'ring', incarnation: 0, body: 1 });
    net.until(() => heard.length > 4, 'all of them');
    assert.equal(heard.map((each) => String(each).slice(0, 16)),
      ['news', 'agent.echo', 'news', 'x'.repeat(16), 'detector.message']);
    assert.equal(net.faults, []);
  });

  test('what waits for others is bounded, and forgotten with its source', () => {
    const ahead = new AheadFrames();
    const pairOf = (generation: number) =>
      ({ source: NEAR, job: 0, incarnation: 1, generation, last: 0, frames: 0, bytes: 0, askedAt: -1 });
    const [old, pair] = [pairOf(0), pairOf(1)];
    const keep = (number: number, bytes: number, of = pair): void =>
      ahead.keep(of, number, { frame: new Uint8Array(bytes), from: NO_LINK });
    for (let number = 2; number < 1000; number++) keep(number, 10, old);
    assert.equal([ahead.take(old, 257)?.frame.length, ahead.take(old, 258)], [10, undefined], '256 frames');
    keep(2, 1024 * 1024);
    assert.equal([ahead.take(old, 2), ahead.take(pair, 2)], [undefined, undefined], 'of the pair before');
    assert.ok(ahead.isEmpty);
    keep(2, 1024 * 1024);
    keep(3, 1);
    assert.is(ahead.take(pair, 3), undefined, '1 MiB');
    ahead.drop((source) => source === NEAR);
    assert.ok(ahead.isEmpty);
  });

  test('once and in order over routes that lose, repeat and reorder; what is kept stays in its window', () => {
    for (let seed = 0; seed < 200; seed++) {
      const next = seededIntegers(seed);
      const pair = new Pair(next, seed % 2 === 0 ? undefined : WINDOW / 4);
      for (let step = 0; step < 60; step++) {
        for (let i = next(20); i > 0 && pair.send(next(3) === 0 ? next(8000) : next(50)); i--);
        if (next(8) === 0) pair.changeRoute();
        pair.place.run(next(200));
      }
      pair.heal();
      pair.place.until(() => pair.layer(NEAR).keptBytes === 0, `all acknowledgements, seed ${seed}`);
      assert.equal(pair.got, Array.from({ length: pair.sent }, (_, i) => i), `seed ${seed}`);
      assert.ok(pair.keptMax <= WINDOW, `${pair.keptMax} bytes kept`);
    }
  });

  test('acknowledgements are rare: for every 32 frames or 1 MiB, else after 100 ms', () => {
    const count = (frames: number, bytes: number, ms: number): number => {
      const pair = new Pair(seededIntegers(1));
      for (let i = 0; i < frames; i++) pair.send(bytes);
      pair.place.run(ms);
      assert.is(pair.got.length, frames);
      return pair.frames - frames;
    };
    assert.equal([count(31, 10, 50), count(32, 10, 50), count(96, 10, 50), count(96, 10, 500)], [0, 1, 3, 3]);
    assert.equal([count(31, 10, 500), count(6, 10_000, 50), count(6, 10_000, 500)], [1, 0, 1]);
  });

  test('one that acknowledges nothing is asked after 1, 2, 4 and then each 8 seconds, and after 1 again', () => {
    const sender = new Sender({ incarnation: 1, windowBytes: WINDOW, ttl: 9 });
    const frame = (nowMs: number): Frame => {
      const encoded = encodeHeader(header, 0);
      sender.keep(FAR, 3, [encoded], nowMs);
      return encoded;
    };
    const asked = (fromMs: number, untilMs: number): number[] => {
      const at: number[] = [];
      for (let ms = fromMs; ms < untilMs; ms += 500) if (sender.overdue(ms).length > 0) at.push(ms);
      return at;
    };
    const first = frame(0);
    frame(0);
    assert.equal(asked(0, 32_000), [1000, 3000, 7000, 15_000, 23_000, 31_000]);
    sender.acknowledge(FAR, 3, readDelivery(first), 32_000);
    assert.equal(asked(32_000, 36_000), [33_000, 35_000]);
  });

  test('a pair that is given up begins again, and frames of before are not taken', () => {
    const [sender, receiver] = [new Sender({ incarnation: 1, windowBytes: WINDOW, ttl: 9 }), new Receiver()];
    const frame = (): Frame => {
      const encoded = encodeHeader(header, 0);
      sender.keep(FAR, 3, [encoded], 0);
      return encoded;
    };
    const take = (each: Frame): string => receiver.receive(NEAR, 0, each)[0];
    const before = [frame(), frame(), frame()];
    assert.equal(before.slice(0, 2).map(take), ['take', 'take']);
    sender.drop((to, job) => to === FAR && job === 3);
    assert.is(sender.keptBytes, 0);
    const after = [frame(), frame()];
    assert.equal(after.map(take), ['take', 'take']);
    assert.equal([before[2] as Frame, ...after].map(take), ['stale', 'duplicate', 'duplicate']);
    // Its number is one that has been sent since: only the generation tells that it is of the pair before.
    const keptBytes = sender.keptBytes;
    assert.is(sender.acknowledge(FAR, 3, readDelivery(before[0] as Frame), 0), undefined, 'of the pair before');
    assert.is(sender.keptBytes, keptBytes);
    assert.ok(sender.acknowledge(FAR, 3, readDelivery(after[0] as Frame), 0) !== undefined, 'of this one');
    assert.ok(sender.keptBytes < keptBytes);
  });

  test('an agent that was started again begins anew, and its predecessor is not heard any more', () => {
    const receiver = new Receiver();
    const frame = (incarnation: number, count: number): Frame => {
      const sender = new Sender({ incarnation, windowBytes: WINDOW, ttl: 9 });
      const encoded = encodeHeader(header, 0);
      for (let i = 0; i < count; i++) sender.keep(FAR, 3, [encoded], 0);
      return encoded;
    };
    const verdicts = [frame(1, 1), frame(1, 2), frame(2, 1), frame(1, 3), frame(2, 2)]
      .map((each) => receiver.receive(NEAR, 0, each)[0]);
    assert.equal(verdicts, ['take', 'take', 'take', 'stale', 'take']);
  });

  test('a host that invents jobs costs bounded memory, and others nothing', () => {
    const receiver = new Receiver();
    const first = encodeHeader(header, 0);
    new Sender({ incarnation: 1, windowBytes: WINDOW, ttl: 9 }).keep(FAR, 3, [first], 0);
    assert.is(receiver.receive(sessionAddress(7), 1, first)[0], 'take');
    for (let job = 1; job < 10_000; job++) receiver.receive(FAR, job, first);
    assert.is(receiver.receive(FAR, 1, first)[0], 'take', 'forgotten');
    assert.is(receiver.receive(sessionAddress(7), 1, first)[0], 'duplicate');
  });
});

suite('delivery over a tree that changes', (test) => {
  test('a host that has more kept than the queue of its link takes comes back, messages and broadcasts', () => {
    const MESSAGES = 150;
    const net = makeNet([0, 0, 1], { 'bootcom.queue.max': '4MiB', 'message.bytes.max': '64KiB' });
    const [controller, above, host] = net.nodes as [AgentNode, AgentNode, AgentNode];
    const heard: [number[], number[]] = [[], []];
    host.messages.on('agent.echo', (body, { job }) => {
      heard[job === 7 ? 1 : 0].push((body as Uint8Array)[0] as number);
    });
    const send = (i: number): void => {
      const body = new Uint8Array(60_000).fill(i);
      controller.messages.send(addressOf(2), 'agent.echo', body);
      controller.messages.sendSubtree('agent.echo', body, 7);
    };
    net.channels[2]?.[0].destroy('cut');
    net.until(() => net.closed.length === 2, 'both ends know');
    for (let i = 0; i < MESSAGES; i++) {
      send(i);
      net.run(1);
    }
    net.adopt(1, 2);
    controller.messages.transport.resend(() => true);
    for (let i = MESSAGES; i < MESSAGES + 10; i++) send(i);
    net.until(() => heard.every(({ length }) => length === MESSAGES + 10), 'all of both');
    const all = Array.from({ length: MESSAGES + 10 }, (_, i) => i);
    assert.equal(heard, [all, all], 'in order');
    assert.is(net.closed.length, 2, net.closed.join());
    net.until(() => controller.memory.unacknowledged === 0, 'acknowledgements');
    assert.ok(above.memory.queued < 4 * 1024 * 1024);
  });

  test('of many destinations, one that does not answer leaves room for the others', () => {
    const bytes = 64 * 1024;
    const place = testPlace();
    const holds = new Scope('agent');
    const forwarded = new Map<Address, number>();
    let isOpen = true;
    const answered = new Set<Address>();
    const layer: DeliveryLayer = new DeliveryLayer({
      router: { self: CONTROLLER, job: 0, forward: (to: Address, _job: number, [head]: Uint8Array[]) => {
        if (!isOpen) return false;
        forwarded.set(to, (forwarded.get(to) ?? 0) + 1);
        if (!answered.has(to)) return true;
        const mark = readDelivery(head as Frame);
        place.platform.clock.soon(() => {
          const type = DELIVERY_FRAME.ack;
          const ack = encodeHeader({ ...header, layer: LAYER.delivery, type, source: to, job: 0 }, 0);
          writeDelivery(ack, mark);
          layer.onFrame(ack);
        });
        return true;
      } } as never,
      clock: place.platform.clock, holds, incarnation: 1, windowBytes: 64 * bytes, ttl: 9, resendBytes: 8 * bytes,
      onUndeliverable: () => undefined,
    });
    const hosts = Array.from({ length: 12 }, (_, i) => rootAddress(i));
    isOpen = false;
    for (const destination of hosts) {
      const to = { ...header, destination };
      for (let i = 0; i < 32; i++) layer.send(to, [encodeHeader(to, bytes), new Uint8Array(bytes)]);
    }
    isOpen = true;
    for (const host of hosts.slice(8)) answered.add(host);
    layer.resend(() => true);
    const underway = [...forwarded.values()].reduce((sum, count) => sum + count, 0);
    assert.ok(underway <= 9, `${underway} frames of 64 KiB at once, where 8 may be under way`);
    assert.ok([...forwarded.values()].every((count) => count <= 2), 'a quarter of that for each');
    place.run(20_000);
    for (const host of answered) assert.ok((forwarded.get(host) ?? 0) >= 32, `all for ${host}`);
    holds.close();
  });

  test('what was lost with a link arrives over the next one, once and in order, in both directions', () => {
    const net = makeNet([0, 0, 1, 2]);
    const heard: [string[], string[]] = [[], []];
    net.nodes[3]?.messages.on('agent.stop', ({ reason }) => void heard[0].push(reason));
    net.nodes[0]?.messages.on('agent.stop', ({ reason }) => void heard[1].push(reason));
    const send = (i: number): void => {
      net.nodes[0]?.messages.send(addressOf(3), 'agent.stop', { reason: String(i) });
      net.nodes[3]?.messages.send(CONTROLLER, 'agent.stop', { reason: String(i) });
    };
    for (let i = 0; i < 50; i++) send(i);
    net.run(0);
    net.channels[2]?.[0].destroy('cut');
    for (let i = 50; i < 100; i++) send(i);
    net.run(10);
    net.adopt(1, 3);
    for (let i = 100; i < 150; i++) send(i);
    for (const node of net.nodes) node.messages.transport.resend(() => true);
    net.until(() => heard.every(({ length }) => length >= 150), 'all messages');
    net.run(2000);
    const expected = Array.from({ length: 150 }, (_, i) => String(i));
    assert.equal(heard, [expected, expected]);
  });

  test('a broadcast reaches each agent once, those that were cut off with their new link', () => {
    const net = makeNet([0, 0, 1, 2, 3]);
    const heard = net.nodes.map((node) => {
      const own: string[] = [];
      node.messages.on('agent.stop', ({ reason }) => void own.push(reason));
      return own;
    });
    const send = (i: number): unknown => net.nodes[0]?.messages.sendSubtree('agent.stop', { reason: String(i) }, 3);
    for (let i = 0; i < 20; i++) send(i);
    net.until(() => heard[2]?.length === 20, 'some of them');
    net.channels[2]?.[0].destroy('cut');
    for (let i = 20; i < 40; i++) send(i);
    net.run(10);
    const before = heard[4]?.length ?? 0;
    assert.ok(before < 40, 'some were lost');
    net.adopt(1, 3);
    send(40);
    net.run();
    const expected = Array.from({ length: 41 }, (_, i) => String(i));
    assert.equal([heard[1], heard[3], heard[4]], [expected, expected, expected]);
    for (const { messages } of net.nodes) messages.transport.closeJob(3);
  });

  test('an agent that is not up yet gets what was sent to it when it is', () => {
    const net = makeNet(line(3));
    const replies: unknown[] = [];
    const options = { job: 3, timeoutMs: 20_000 };
    const done = (_error: unknown, reply: unknown): void => void replies.push(reply);
    net.nodes[0]?.messages.request(sessionAddress(1), 'agent.echo', 'x', done, options);
    net.run(500);
    assert.equal(replies, []);
    net.addSession(2, 3);
    net.until(() => replies.length === 1, 'the reply');
    assert.equal([replies, net.faults], [['x'], []]);
  });

  test('what is for an agent that is gone fails, and a successor is another pair', () => {
    const net = makeNet(star(3));
    const codes: unknown[] = [];
    const gone = rootAddress(7);
    net.nodes[1]?.messages.request(gone, 'agent.echo', 1, (error) => codes.push(error?.code));
    net.until(() => codes.length === 1, 'an error');
    net.nodes[0]?.messages.request(addressOf(2), 'agent.echo', 1, (error) => codes.push(error?.code));
    net.nodes[0]?.messages.transport.drop(addressOf(2));
    assert.equal(codes, ['STCI_MESSAGE_UNROUTABLE', 'STCI_AGENT_LOST']);
    assert.is(ask(net, 0, addressOf(2), 2).reply, 2, 'a successor is another pair');
  });
});
