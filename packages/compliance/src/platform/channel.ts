/**
 * Requirements on every channel, whatever its transport: order, no loss, back-pressure, and one `onClose` at the end.
 * The test of a platform, or of any other maker of channels, calls `channelCompliance` with a function that makes both
 * ends of one.
 */

import type { Channel } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { suite } from '../kit/suite.js';
import type { TestApi } from '../kit/suite.js';

/** Resolves when `condition` holds; rejects with `what` at a deadline (real or simulated). */
export type Until = (condition: () => boolean, what: string) => Promise<void>;

export interface ChannelPair {
  /** Two unbound ends of one channel. */
  readonly near: Channel;
  readonly far: Channel;
  readonly until: Until;
  /** Lets all data in flight arrive; needed if time only passes on demand. Default: some turns of the loop. */
  settle?(): Promise<void>;
  /** Releases the pair's resources. */
  end?(): void | Promise<void>;
}

export interface ChannelComplianceOptions {
  /** Size of the test of throughput; default 100 MB. Simulated platforms may use less. */
  readonly bulkBytes?: number;
}

/** Largest number of bytes in flight while the receiver does not read: in both ends and the system between. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** Records the events of a channel's receiver, in order. */
export class Recorder {
  readonly chunks: Uint8Array[] = [];
  readonly reasons: string[] = [];
  bytes = 0;
  drains = 0;
  /** Set if an event followed `onClose`. */
  afterClose = '';
  onChunk: (chunk: Uint8Array) => void = (chunk) => void this.chunks.push(chunk);

  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.bind({
      onData: (chunk) => {
        this.#note('data');
        this.bytes += chunk.byteLength;
        this.onChunk(chunk);
      },
      onDrain: () => {
        this.#note('drain');
        this.drains++;
      },
      onClose: (reason) => {
        this.#note('close');
        this.reasons.push(reason);
      },
    });
  }

  get closed(): boolean {
    return this.reasons.length > 0;
  }

  get text(): string {
    return this.chunks.map((chunk) => String.fromCharCode(...chunk)).join('');
  }

  #note(what: string): void {
    if (this.closed) this.afterClose ||= `${what} after onClose of ${this.#channel.label}`;
  }
}

/** Pseudo-random numbers for test data: the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 0x1_0000_0000) * below);
  };
}

/** The byte at `offset` of the test's stream; its period is not a power of two. */
function byteAt(offset: number): number {
  return (offset % 251) ^ ((offset >>> 12) & 0xff);
}

function chunkAt(offset: number, length: number): Uint8Array {
  const chunk = new Uint8Array(length);
  for (let i = 0; i < length; i++) chunk[i] = byteAt(offset + i);
  return chunk;
}

/** Receiver that checks the test's stream; `wrong` is the first bad offset. */
function checker(): { take(chunk: Uint8Array): void; offset: number; wrong: number | undefined } {
  const state = {
    offset: 0,
    wrong: undefined as number | undefined,
    take: (chunk: Uint8Array): void => {
      for (let i = 0; i < chunk.byteLength; i++) {
        if (chunk[i] !== byteAt(state.offset + i)) state.wrong ??= state.offset + i;
      }
      state.offset += chunk.byteLength;
    },
  };
  return state;
}

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** Makes tests from bodies: each gets its own pair, which is destroyed afterwards. */
export function pairUser<Pair extends ChannelPair>(
  make: () => Pair | Promise<Pair>,
): (body: (pair: Pair) => Promise<void>) => () => Promise<void> {
  return (body) => async () => {
    const pair = await make();
    try {
      await body(pair);
    } finally {
      pair.near.destroy('the test is over');
      pair.far.destroy('the test is over');
      await pair.end?.();
    }
  };
}

type WithPair = (body: (pair: ChannelPair) => Promise<void>) => () => Promise<void>;

/** Defines the suite `NAME: channel`. */
export function channelCompliance(
  name: string,
  make: () => ChannelPair | Promise<ChannelPair>,
  options: ChannelComplianceOptions = {},
): void {
  const withPair: WithPair = pairUser(make);
  suite(`${name}: channel`, (test) => {
    orderTests(test, withPair);
    closeTests(test, withPair);
    destroyTests(test, withPair);
    pressureTests(test, withPair, options.bulkBytes ?? 100_000_000);
  });
}

function orderTests(test: TestApi, withPair: WithPair): void {
  test('carries bytes both ways, in order and exactly, whatever the chunks', withPair(async ({ near, far, until }) => {
    const [a, b] = [new Recorder(near), new Recorder(far)];
    const [atNear, atFar] = [checker(), checker()];
    a.onChunk = atNear.take;
    b.onChunk = atFar.take;
    const next = numbers(1);
    let sent = 0;
    for (let round = 0; round < 200; round++) {
      const lengths = Array.from({ length: next(4) }, () => (next(8) === 0 ? next(100_000) : next(300)));
      const chunks = lengths.map((length) => chunkAt((sent += length) - length, length));
      near.send(chunks);
      far.send(chunks);
    }
    await until(() => atFar.offset >= sent && atNear.offset >= sent, 'all bytes at both ends');
    assert.equal([atFar.wrong, atFar.offset, atNear.wrong, atNear.offset], [undefined, sent, undefined, sent]);
  }));

  test('keeps bytes that arrive before the receiver is bound', withPair(async ({ near, far, until }) => {
    near.send([ascii('early')]);
    const first = new Recorder(near);
    far.send([ascii('answer')]);
    await until(() => first.text === 'answer', 'the answer');
    const late = new Recorder(far);
    assert.is(late.text, '', 'bind itself delivers nothing');
    await until(() => late.text === 'early', 'the early bytes');
  }));
}

function closeTests(test: TestApi, withPair: WithPair): void {
  test('close delivers all that was sent, then closes both ends, once', withPair(async (pair) => {
    const { near, far, until } = pair;
    const [a, b] = [new Recorder(near), new Recorder(far)];
    const check = checker();
    b.onChunk = check.take;
    for (let i = 0; i < 40; i++) near.send([chunkAt(i * 50_000, 50_000)]);
    near.close();
    near.close();
    assert.ok(!a.closed, 'no event during close itself');
    assert.is(near.send([ascii('too late')]), false);
    await until(() => a.closed && b.closed, 'both ends closed');
    assert.equal([check.offset, check.wrong], [2_000_000, undefined]);
    near.destroy('again');
    far.close();
    await settled(pair);
    assert.equal([a.reasons.length, b.reasons.length, a.afterClose, b.afterClose], [1, 1, '', '']);
  }));

  test('a paused receiver gets all bytes before its onClose', withPair(async (pair) => {
    const { near, far, until } = pair;
    const b = new Recorder(far);
    far.readable(false);
    near.send([ascii('last bytes')]);
    near.close();
    const a = new Recorder(near);
    await settled(pair);
    assert.equal([b.text, b.closed], ['', false]);
    far.readable(true);
    await until(() => b.closed && a.closed, 'both ends closed');
    assert.equal([b.text, b.afterClose], ['last bytes', '']);
  }));
}

function destroyTests(test: TestApi, withPair: WithPair): void {
  test('destroy closes at once with its reason, the far end too', withPair(async ({ near, far, until }) => {
    const [a, b] = [new Recorder(near), new Recorder(far)];
    near.send([ascii('x')]);
    await until(() => b.text === 'x', 'the channel is open');
    near.destroy('had enough');
    assert.ok(!a.closed, 'no event during destroy itself');
    near.destroy('twice');
    await until(() => a.closed && b.closed, 'both ends closed');
    assert.equal([a.reasons, b.reasons.length, a.afterClose, b.afterClose], [['had enough'], 1, '', '']);
    assert.is(near.send([ascii('y')]), false);
    assert.is(near.queuedBytes, 0);
  }));

  test('reports the end of a channel that closed before it was bound', withPair(async ({ near, far, until }) => {
    near.destroy('never wanted');
    const [a, b] = [new Recorder(near), new Recorder(far)];
    await until(() => a.closed && b.closed, 'both ends closed');
    assert.equal([a.reasons, b.reasons.length], [['never wanted'], 1]);
  }));
}

function pressureTests(test: TestApi, withPair: WithPair, bulkBytes: number): void {
  test('a receiver that does not read stops the sender, and resumes it', withPair(async (pair) => {
    const { near, far, until } = pair;
    const [a, b] = [new Recorder(near), new Recorder(far)];
    const check = checker();
    b.onChunk = check.take;
    far.readable(false);
    let sent = 0;
    const fill = (): boolean => {
      while (sent < UNREAD_BYTES_MAX * 2) {
        sent += 65_536;
        if (!near.send([chunkAt(sent - 65_536, 65_536)])) return false;
      }
      return true;
    };
    // The system between the ends buffers some: continue at each drain until none follows.
    for (let drains = -1; drains !== a.drains; await settled(pair)) {
      drains = a.drains;
      if (fill()) break;
    }
    assert.ok(sent < UNREAD_BYTES_MAX, `send never returned false: ${sent} bytes accepted`);
    assert.is(check.offset, 0, 'nothing is delivered to a receiver that does not read');
    const before = a.drains;
    far.readable(true);
    await until(() => check.offset === sent && a.drains > before, 'all bytes and a drain');
    assert.is(check.wrong, undefined);
  }), { timeoutMs: 20_000 });

  test(`${bulkBytes / 1e6} MB pass while little is queued`, withPair(async ({ near, far, until }) => {
    const b = new Recorder(far);
    b.onChunk = () => {};
    const block = chunkAt(0, 65_536);
    let left = bulkBytes;
    let queuedMax = 0;
    const fill = (): void => {
      for (let hasRoom = true; hasRoom && left > 0; ) {
        const length = Math.min(left, block.byteLength);
        left -= length;
        hasRoom = near.send([length === block.byteLength ? block : block.subarray(0, length)]);
        queuedMax = Math.max(queuedMax, near.queuedBytes);
      }
    };
    near.bind({ onData: () => {}, onDrain: fill, onClose: () => {} });
    fill();
    await until(() => b.bytes === bulkBytes, 'all bytes');
    assert.ok(queuedMax <= UNREAD_BYTES_MAX / 2, `${queuedMax} bytes were queued at once`);
  }), { timeoutMs: 30_000 });
}

/** Several turns of the loop: data in flight arrives, on a real machine or in a simulation that runs by itself. */
export async function settled({ near, far, settle }: ChannelPair): Promise<void> {
  if (settle !== undefined) return settle();
  let before = -1;
  for (let quiet = 0; quiet < 20; quiet++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = near.queuedBytes + far.queuedBytes;
    if (now !== before) quiet = 0;
    before = now;
  }
}
