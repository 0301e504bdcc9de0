/** The held queue, pure: nothing is lost or reordered, delays and rates hold, whatever the rules in between. */

import type { Impairment } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { HeldQueue, type HeldItem } from '../../dist/bootcom/held-queue.js';

function queue(direction: 'in' | 'out' = 'out', random = () => 0.5): HeldQueue {
  return new HeldQueue(direction, random);
}

const bytes = (length: number, fill = 0): Uint8Array => new Uint8Array(length).fill(fill);

function sizeOf(item: HeldItem | undefined): number {
  return item instanceof Uint8Array ? item.length : 0;
}

suite('held queue', (test) => {
  test('without an impairment of its direction all passes at once', () => {
    const held = queue('in');
    held.impair({ direction: 'out', isSilent: true }, 0);
    assert.ok(held.isOpen);
    held.push(bytes(3), 10);
    assert.ok(!held.isOpen && held.bytes === 3);
    assert.equal([sizeOf(held.next(10)), held.bytes, held.isOpen, held.next(11)], [3, 0, true, undefined]);
  });

  test('in a silence nothing passes; then all does, in order', () => {
    const held = queue();
    held.impair({ direction: 'both', isSilent: true }, 0);
    const order: string[] = [];
    held.push(bytes(2), 0);
    held.push(() => order.push('mark'), 5);
    held.push(bytes(4), 6);
    assert.equal([held.isSilent, held.dueMs, held.next(1e9), held.bytes], [true, undefined, undefined, 6]);
    held.impair(undefined, 0);
    assert.is(sizeOf(held.next(6)), 2);
    (held.next(6) as () => void)();
    assert.equal([order, sizeOf(held.next(6)), held.next(6)], [['mark'], 4, undefined]);
  });

  test('a delay is kept to the instant, jitter never reorders', () => {
    const draws = [1, 0];
    const held = queue('out', () => draws.shift() ?? 0);
    held.impair({ direction: 'out', delayMs: 100, jitterMs: 50 }, 0);
    held.push(bytes(1, 1), 0);
    held.push(bytes(1, 2), 10);
    assert.equal([held.dueMs, held.next(149.9)], [150, undefined]);
    assert.equal((held.next(150) as Uint8Array)[0], 1);
    assert.equal((held.next(150) as Uint8Array)[0], 2, 'the second was drawn for 110, and waits for the first');
  });

  test('a rate lets pieces pass, none too soon', () => {
    const held = queue();
    held.impair({ direction: 'out', bytesPerSecond: 1000 }, 0);
    held.push(bytes(120), 0);
    assert.equal([held.next(49), sizeOf(held.next(50)), held.next(99), held.bytes], [undefined, 50, undefined, 70]);
    assert.equal([sizeOf(held.next(100)), held.dueMs, sizeOf(held.next(120)), held.isEmpty], [50, 120, 20, true]);
    held.push(bytes(10), 500);
    assert.is(held.dueMs, 510, 'a line that was idle has saved nothing');
  });

  test('random rules and times: order, bytes, delays and rates', () => {
    for (let seed = 1; seed <= 300; seed++) check(seed);
  });
});

function drawRule(draw: (below: number) => number): Impairment | undefined {
  const direction = (['out', 'both', 'in'] as const)[draw(3)] as Impairment['direction'];
  switch (draw(4)) {
    case 0: return undefined;
    case 1: return { direction, isSilent: true };
    case 2: return { direction, delayMs: draw(200), jitterMs: draw(50) };
    default: return { direction, bytesPerSecond: 1 + draw(5000) };
  }
}

/** Every byte is the low part of its number. */
function check(seed: number): void {
  const next = seededIntegers(seed);
  const draw = (below: number): number => next(below);
  const held = queue('out', () => next(1000) / 1000);
  let [nowMs, pushed, passed, rateMs, rateBytes] = [0, 0, 0, 0, 0];
  let rule: Impairment | undefined;
  const bornMs: number[] = [];
  const take = (): void => {
    for (let item = held.next(nowMs); item !== undefined; item = held.next(nowMs)) {
      const chunk = item as Uint8Array;
      for (const byte of chunk) assert.is(byte, passed++ % 251, `seed ${seed}`);
      assert.ok(rule?.isSilent !== true, `seed ${seed}: a byte in a silence`);
      if (rule?.delayMs !== undefined && rule.bytesPerSecond === undefined) {
        const ageMs = nowMs - (bornMs[passed - 1] as number);
        if ((bornMs[passed - 1] as number) > rateMs) assert.ok(ageMs >= rule.delayMs, `seed ${seed}: ${ageMs} ms`);
      }
      rateBytes += chunk.length;
    }
    if (rule?.bytesPerSecond === undefined) return;
    const most = ((nowMs - rateMs) * rule.bytesPerSecond) / 1000;
    assert.ok(rateBytes <= most + 1e-6, `seed ${seed}: ${rateBytes} bytes of ${most}`);
  };
  for (let step = 0; step < 120; step++) {
    nowMs += draw(40);
    if (draw(12) === 0) {
      take();
      const drawn = drawRule(draw);
      held.impair(drawn, nowMs);
      rule = drawn?.direction === 'in' ? undefined : drawn;
      [rateMs, rateBytes] = [nowMs, 0];
    }
    if (draw(2) === 0) {
      const chunk = Uint8Array.from({ length: 1 + draw(300) }, () => (bornMs.push(nowMs), pushed++ % 251));
      held.push(chunk, nowMs);
    }
    take();
    assert.is(held.bytes, pushed - passed, `seed ${seed}`);
  }
  rule = undefined;
  held.impair(rule, nowMs);
  take();
  assert.equal([passed, held.isOpen], [pushed, true], `seed ${seed}`);
}
