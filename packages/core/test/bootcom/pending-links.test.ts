/** A bounded number of unauthenticated links, and which is evicted. */

import { createWorld } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import type { Link } from '../../dist/bootcom/link.js';
import { PendingLinks } from '../../dist/bootcom/pending-links.js';

const MAX = 4;

interface Fake {
  isIntroduced: boolean;
  gone: string;
}

function place() {
  const world = createWorld({ seed: 1 });
  const strangers = new PendingLinks(MAX, world.platform('h1'));
  const come = (label = 'ws://10.0.0.1:999', isIntroduced = false): Fake => {
    const fake = { isIntroduced, gone: '', destroy: (text: string) => void (fake.gone = text) };
    strangers.add(fake as unknown as Link, label);
    return fake;
  };
  const pass = (ms: number): void => void world.run({ untilMs: world.nowMs + ms });
  return { strangers, come, pass };
}

const standing = (crowd: readonly Fake[]): number => crowd.filter(({ gone }) => gone === '').length;

suite('strangers', (test) => {
  test('as many as may be stay; of more, none goes at once, and the rest a moment later', () => {
    const { strangers, come, pass } = place();
    const crowd = Array.from({ length: 2 * MAX }, () => come());
    assert.equal([standing(crowd), strangers.count], [8, 8]);
    pass(300);
    assert.equal([standing(crowd), strangers.count], [MAX, MAX]);
    assert.match(crowd.find(({ gone }) => gone !== '')?.gone ?? '', /more than 4 connections .*bootcom\.pending\.max/);
  });

  test('never more than twice as many', () => {
    const { strangers, come } = place();
    const crowd = Array.from({ length: 100 }, () => come());
    assert.equal([standing(crowd), strangers.count], [2 * MAX, 2 * MAX]);
  });

  test('who has named the session stays, and so does who comes from elsewhere', () => {
    const { come, pass } = place();
    const [met, elsewhere] = [come(undefined, true), come('ws://10.0.0.2:999')];
    const crowd = Array.from({ length: 300 }, (_, i) => come(`ws://10.0.0.1:${i}`));
    pass(300);
    assert.equal([met.gone, elsewhere.gone, standing(crowd)], ['', '', MAX - 2]);
  });

  test('who has named the session is not evicted because all others are too new', () => {
    const { come, pass } = place();
    const met = come(undefined, true);
    pass(240);
    const crowd: Fake[] = [];
    // Always some that are too new, and too many: a cut finds none but the one that came first old enough.
    for (let i = 0; i < 200; i++) {
      crowd.push(come(`ws://10.0.0.1:${i}`), come(`ws://10.0.0.2:${i}`));
      pass(5);
    }
    assert.is(met.gone, '');
    assert.ok(standing(crowd) <= 2 * MAX);
  });

  test('who has proved itself is no stranger any more; an end clears them all', () => {
    const { strangers, come, pass } = place();
    const crowd = Array.from({ length: MAX + 1 }, () => come());
    strangers.delete(crowd[0] as unknown as Link);
    pass(300);
    assert.is(strangers.count, MAX);
    strangers.clear('over');
    assert.equal([standing(crowd), crowd[1]?.gone], [1, 'over']);
  });
});
