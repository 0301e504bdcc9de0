/** Bounds per source on kept messages: a source that reaches its bound does not affect the others; and of replies. */

import { rootAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Reassembly } from '../../dist/am/fragments.js';
import { FLAG, HEADER_BYTES, LAYER, encodeHeader, type Frame } from '../../dist/codec/frame.js';
import { EarlyFrames } from '../../dist/streams/early-frames.js';
import { addressOf, line, makeNet } from '../am/net.js';
import { testPlace } from '../world.js';

const MIB = 1024 * 1024;
const [BAD, GOOD] = [rootAddress(1), rootAddress(2)];

function frame(source: number, sequence: number, flags: number, bytes: number): Frame {
  const header = { layer: LAYER.stream, type: 1, flags, ttl: 9, stream: 7, source, destination: 0, job: 0, sequence };
  const whole = new Uint8Array(HEADER_BYTES + bytes);
  whole.set(encodeHeader(header, bytes));
  return whole;
}

function reassembly(messageBytesMax: number) {
  const told: string[] = [];
  const parts = new Reassembly(testPlace().platform.clock, messageBytesMax, 1000, (error) => told.push(error.message));
  const refused: boolean[] = [];
  const take = (...of: Parameters<typeof frame>): boolean => {
    try {
      return parts.take(frame(...of)) !== undefined;
    } catch (fault) {
      refused.push((fault as { data: { tooLong?: boolean } }).data.tooLong === true);
      return false;
    }
  };
  return { take, told, refused };
}

suite('what is kept of each source', (test) => {
  test('messages under way, in number: it is the fault of who has too many', () => {
    const { take, told, refused } = reassembly(MIB);
    for (let i = 0; i < 10_000; i++) take(BAD, i, FLAG.more, 1);
    assert.equal(refused, Array.from({ length: 10_000 - 64 }, () => true));
    assert.not.ok(take(GOOD, 1, FLAG.more, 1000));
    assert.ok(take(GOOD, 1, FLAG.rest, 1000));
    assert.equal(told, []);
  });

  test('messages under way, in bytes', () => {
    const { take, refused } = reassembly(16 * MIB);
    for (let i = 0; i < 60; i++) for (let part = 0; part < 16; part++) take(BAD, i, FLAG.more, 64 * 1024);
    assert.ok(refused.length > 0 && refused.every(Boolean), '60 MiB, where 32 may be');
    for (let part = 0; part < 255; part++) take(GOOD, 1, part === 0 ? FLAG.more : FLAG.more | FLAG.rest, 64 * 1024);
    assert.ok(take(GOOD, 1, FLAG.rest, 1));
  });

  test('messages under way, in what it takes to keep tiny fragments', () => {
    const { take, refused } = reassembly(MIB);
    for (let part = 0; part < 10_000; part++) take(BAD, 1, part === 0 ? FLAG.more : FLAG.more | FLAG.rest, 1);
    assert.equal(refused, [true]);
  });

  test('where all together have too much, the oldest large message goes, not the one that comes', () => {
    const { take, told, refused } = reassembly(16 * MIB);
    for (let source = 10; source < 18; source++) {
      for (let part = 0; part < 16 * 15; part++) take(rootAddress(source), 1, FLAG.more, 64 * 1024);
    }
    for (let part = 0; part < 100; part++) take(GOOD, 1, FLAG.more, 64 * 1024);
    assert.ok(take(GOOD, 1, FLAG.rest, 1));
    assert.equal(refused, []);
    assert.match(told[0] ?? '', /the oldest one, of root:10, is dropped/);
  });

  test('frames of streams that are not open yet', () => {
    const early = new EarlyFrames(1000);
    const keep = (source: number, bytes: number, sinceMs = 0): boolean => {
      const kept = frame(source, 1, 0, bytes);
      if (!early.hasRoom(kept, sinceMs)) return false;
      early.keep({ frame: kept, from: undefined as never, sinceMs });
      return true;
    };
    assert.is(Array.from({ length: 10_000 }, () => keep(BAD, 1)).filter(Boolean).length, 512);
    assert.is(Array.from({ length: 200 }, () => keep(GOOD, 64 * 1024)).filter(Boolean).length, 127);
    assert.is(early.take(0, 1).length, 512 + 127);
    assert.ok(keep(BAD, 1), 'there is room again');
    assert.is(early.take(0, 1002).length, 0, 'forgotten in time');
  });
});

suite('lengths of replies', (test) => {
  test('a reply may be longer than its request, and not than it may be itself', () => {
    const net = makeNet(line(2));
    const answers: unknown[] = [];
    let rows: unknown = Array.from({ length: 1000 }, () => ['n'.repeat(120), 'counter', 'h'.repeat(100), [], [1]]);
    net.nodes[1]?.messages.on('agent.metrics', () => [[addressOf(1), 0, rows]]);
    for (const next of [rows, new Uint8Array(64 << 20)]) {
      rows = next;
      net.nodes[0]?.messages.request(addressOf(1), 'agent.metrics', { withinMs: 0, stepMs: 0 }, (error, reply) =>
        answers.push(error?.code ?? (reply as [number, number, unknown[]][])[0]?.[2].length));
      net.until(() => answers.length > 0, 'an answer');
      net.run();
    }
    assert.equal(answers, [1000, 'STCI_MESSAGE_TOO_LARGE']);
  });
});
