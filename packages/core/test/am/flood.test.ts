/** Floods of messages, and which other messages they may delay. */

import { assert, suite } from '@stci/testkit';
import { DispatchQueue, type Received } from '../../dist/am/dispatch-queue.js';
import type { Link } from '../../dist/bootcom/link.js';
import { LAYER, type FrameHeader } from '../../dist/codec/frame.js';
import { addressOf, ask, makeNet, star } from './net.js';

const HEADER: FrameHeader = {
  layer: LAYER.message, type: 4, flags: 0, ttl: 64, stream: 0, source: 1, destination: 0, job: 0, sequence: 1,
};

suite('a flood of messages', (test) => {
  test('delays no message of another child', () => {
    const net = makeNet(star(3));
    const seen: number[] = [];
    net.nodes[0]?.messages.on('agent.echo', (body, { source }) => {
      seen.push(source);
      return body;
    });
    for (let i = 0; i < 5000; i++) net.nodes[1]?.messages.send(addressOf(0), 'agent.echo', i);
    assert.is(ask(net, 2, addressOf(0), 'x').reply, 'x');
    assert.ok(seen.indexOf(addressOf(2)) < 500, `after ${seen.indexOf(addressOf(2))} messages of the flood`);
    net.until(() => seen.length === 5001, 'all of them');
  });

  test('pauses the link that it comes over, and no other', () => {
    const net = makeNet(star(3), { 'event.queue.max': '64' });
    for (let i = 0; i < 5000; i++) net.nodes[1]?.messages.send(addressOf(0), 'agent.echo', i);
    const told: unknown[] = [];
    for (let i = 0; i < 20; i++) {
      net.nodes[2]?.messages.request(addressOf(0), 'agent.echo', i, (error, reply) => told.push(error ?? reply));
    }
    net.until(() => told.length === 20, 'all replies');
    assert.equal(told, Array.from({ length: 20 }, (_, i) => i));
  });

  test('keeps the order of what comes from below, and takes turns by source of what comes from above', () => {
    const link = (peer: number, role: Link['role']): Link => ({ peer, role }) as never;
    const [above, below] = [link(0, 'parent'), link(addressOf(9), 'child')];
    const queue = new DispatchQueue();
    const push = (source: number, from: Link, sequence: number): void =>
      queue.push({ header: { ...HEADER, source, sequence }, body: new Uint8Array(0), from });
    for (let i = 0; i < 3; i++) push(addressOf(5), above, i);
    push(0, above, 3);
    push(addressOf(9), below, 4);
    push(addressOf(8), below, 5);
    assert.equal([queue.waiting(above), queue.waiting(below)], [4, 2]);
    assert.equal([addressOf(5), 0, addressOf(9)].map((source) => queue.waitingOf(source, 0, above)), [3, 0, 0]);
    const order = [0, 3, 4, 1, 5];
    for (const sequence of order) assert.is((queue.take() as Received).header.sequence, sequence);
    queue.drop(addressOf(5), 0);
    assert.equal([queue.take(), queue.waiting(above), queue.waiting(below)], [undefined, 0, 0]);
  });
});
