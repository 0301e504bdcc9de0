/** What a child that was cut off gets with its new link. */

import { PROGRAM_PARTS_BYTES_MAX } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Broadcasts, KEPT_ALL_BYTES_MAX, KEPT_BYTES_MAX } from '../../dist/am/broadcasts.js';
import { CREDIT_BYTES_MAX } from '../../dist/am/credit.js';
import { FRAGMENT_BYTES_MAX, HEADER_BYTES, LAYER, encodeHeader } from '../../dist/codec/frame.js';

/** All that a child with a new link gets. */
function kept(broadcasts: Broadcasts): (readonly Uint8Array[])[] {
  const missed = broadcasts.missed();
  const all: (readonly Uint8Array[])[] = [];
  for (let next = missed.next(); next !== undefined; next = missed.next()) all.push(next);
  return all;
}

const bodyOf = ([, body]: readonly Uint8Array[]): number => body?.[0] ?? 0;

suite('broadcasts that are kept', (test) => {
  test('the longest decision, and a window of input after it; not for ever', () => {
    const broadcasts = new Broadcasts();
    const keep = (what: number, bytes: number): number => {
      const frames = Math.ceil(bytes / FRAGMENT_BYTES_MAX);
      for (let i = 0; i < frames; i++) {
        broadcasts.keep(new Uint8Array(HEADER_BYTES + FRAGMENT_BYTES_MAX).fill(what, HEADER_BYTES));
      }
      return frames;
    };
    const decision = keep(1, PROGRAM_PARTS_BYTES_MAX + FRAGMENT_BYTES_MAX);
    const input = keep(2, CREDIT_BYTES_MAX);
    assert.equal(kept(broadcasts).map(bodyOf), [...Array(decision).fill(1), ...Array(input).fill(2)] as number[]);
    keep(3, 2 * KEPT_BYTES_MAX);
    assert.ok(broadcasts.keptBytes <= KEPT_BYTES_MAX, `${broadcasts.keptBytes} bytes`);
    assert.equal([...new Set(kept(broadcasts).map(bodyOf))], [3]);
  });

  test('what is kept while a child gets what it has missed comes to it behind that, of the same job', () => {
    const broadcasts = new Broadcasts();
    const keep = (job: number, what: number, bytes = 1): void => {
      const rest = { flags: 0, ttl: 9, stream: 0, source: 0, destination: 0, sequence: 0 };
      const frame = new Uint8Array(HEADER_BYTES + bytes).fill(what, HEADER_BYTES);
      frame.set(encodeHeader({ layer: LAYER.message, type: 4, ...rest, job }, bytes));
      broadcasts.keep(frame);
    };
    for (const what of [1, 2]) keep(7, what);
    keep(8, 3);
    const missed = broadcasts.missed();
    const next = (): number | undefined => {
      const pieces = missed.next();
      return pieces && bodyOf(pieces);
    };
    assert.is(next(), 1);
    assert.equal([missed.has(7), missed.has(8), missed.has(9)], [true, true, false]);
    keep(7, 4);
    keep(9, 5);
    assert.equal([next(), next(), next()], [2, 4, 3]);
    assert.equal([missed.has(7), missed.has(8)], [false, true]);
    keep(7, 6);
    for (let what = 10; what < 13; what++) keep(8, what, KEPT_BYTES_MAX / 2 - HEADER_BYTES);
    assert.equal([next(), next(), next()], [11, 12, undefined], 'what is not kept any more is left out');
    assert.not.ok(missed.has(8));
  });

  test('what fits exactly into the bounds, of a job and of all, is kept', () => {
    const broadcasts = new Broadcasts();
    const frame = new Uint8Array(KEPT_BYTES_MAX);
    const jobs = KEPT_ALL_BYTES_MAX / KEPT_BYTES_MAX;
    const told = Array.from({ length: jobs }, (_, job) => {
      frame.set(encodeHeader({
        layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source: 0, destination: 0, job, sequence: 1,
      }, KEPT_BYTES_MAX - HEADER_BYTES));
      return broadcasts.keep(frame);
    });
    assert.equal([told, broadcasts.keptBytes], [Array(jobs).fill(undefined), KEPT_ALL_BYTES_MAX]);
  });

  test('all jobs together have a bound: the one with the most loses its oldest, which is told once', () => {
    const broadcasts = new Broadcasts();
    const told: (number | undefined)[] = [];
    const keep = (job: number, bytes: number): void => {
      for (let kept = 0; kept < bytes; kept += FRAGMENT_BYTES_MAX) {
        const frame = new Uint8Array(HEADER_BYTES + FRAGMENT_BYTES_MAX);
        frame.set(encodeHeader({
          layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source: 0, destination: 0, job, sequence: 1,
        }, FRAGMENT_BYTES_MAX));
        const cut = broadcasts.keep(frame);
        if (cut !== undefined) told.push(cut);
      }
    };
    const jobs = KEPT_ALL_BYTES_MAX / KEPT_BYTES_MAX;
    for (let job = 1; job <= jobs - 1; job++) keep(job, KEPT_BYTES_MAX);
    const one = 64 * 1024;
    keep(jobs, KEPT_BYTES_MAX / 2);
    assert.equal(told, []);
    for (let job = jobs + 1; broadcasts.keptBytes + 2 * FRAGMENT_BYTES_MAX < KEPT_ALL_BYTES_MAX; job++) keep(job, one);
    keep(1000, 4 * FRAGMENT_BYTES_MAX);
    assert.equal([told.length, new Set(told).size, told.includes(1000)], [told.length, told.length, false]);
    assert.ok(told.length > 0 && broadcasts.keptBytes <= KEPT_ALL_BYTES_MAX, `${broadcasts.keptBytes} bytes, ${told}`);
    for (const job of broadcasts.jobs) broadcasts.closeJob(job);
    assert.is(broadcasts.keptBytes, 0);
  });

  test('that a job loses some again is not told again', () => {
    const broadcasts = new Broadcasts();
    const keep = (job: number): number | undefined => {
      const frame = new Uint8Array(HEADER_BYTES + FRAGMENT_BYTES_MAX);
      frame.set(encodeHeader({
        layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source: 0, destination: 0, job, sequence: 1,
      }, FRAGMENT_BYTES_MAX));
      return broadcasts.keep(frame);
    };
    for (let i = 0; i < 20; i++) keep(1);
    let job = 2;
    let told = keep(job);
    while (told === undefined) told = keep(job += 1);
    assert.equal([told, ...[1, 2, 3].map((more) => keep(job + more))], [1, undefined, undefined, undefined]);
  });
});
