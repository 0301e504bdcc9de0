/** Which pending connection is dropped when there are too many. */

import { selectEviction } from '@stci/core/bootcom';
import type { EvictionCandidate } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';

const member = (source: string, progress = 0, sinceMs = 0): EvictionCandidate => ({ source, progress, sinceMs });
const first = (): number => 0;

suite('eviction', (test) => {
  test('none of none', () => assert.is(selectEviction([], first), undefined));

  test('those with the least progress are evicted first, from whatever source', () => {
    const crowd = [member('a', 1), member('a', 2), member('a', 1), member('b', 0), member('a', 1)];
    assert.is(selectEviction(crowd, first), crowd[3]);
    assert.is(selectEviction([...crowd].reverse(), first), crowd[3]);
  });

  test('who is too new is not chosen, and nobody with more progress in his place', () => {
    const crowd = [member('a', 1), member('a', 0, 7), member('a', 0, 5), member('b', 0, 9)];
    assert.is(selectEviction(crowd, first, 5), crowd[2]);
    assert.is(selectEviction(crowd, first, 4), undefined);
    assert.is(selectEviction(crowd, first), crowd[1], 'without an exemption, of the largest source');
  });

  test('then those of the source with the most connections: a flood from one host evicts no peer of another', () => {
    const next = seededIntegers(3);
    const honest = member('child');
    const crowd = [honest];
    for (let i = 0; i < 1000; i++) {
      crowd.push(member('flood'));
      if (crowd.length <= 16) continue;
      const victim = selectEviction(crowd, next) as EvictionCandidate;
      crowd.splice(crowd.indexOf(victim), 1);
    }
    assert.ok(crowd.includes(honest));
  });

  test('within one source at random: neither the first nor the last is safe, or sure to be evicted', () => {
    const next = seededIntegers(5);
    const gone = new Map<number, number>();
    for (let round = 0; round < 4000; round++) {
      const crowd = Array.from({ length: 8 }, () => member('here'));
      const index = crowd.indexOf(selectEviction(crowd, next) as EvictionCandidate);
      gone.set(index, (gone.get(index) ?? 0) + 1);
    }
    assert.is(gone.size, 8);
    for (const count of gone.values()) assert.ok(count > 400 && count < 600, `${count} of 4000 in 8 places`);
  });
});
