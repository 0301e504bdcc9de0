/** Turns of the programs of a host: how much is taken before all else of the agent, and of whom. */

import type { Clock } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ProgramTurns, REQUEST_COST_US, TURN_COST_US, type TurnTaker } from '../../dist/programs/program-turns.js';
import { testPlace } from '../world.js';

const IN_TURN = TURN_COST_US / REQUEST_COST_US;

function play() {
  const place = testPlace();
  const { clock } = place.platform;
  /** What requests have taken by the clock: time stands still while a simulated process computes. */
  let computedMs = 0;
  const turns = new ProgramTurns({
    nowMs: () => clock.nowMs() + computedMs,
    after: (ms, call) => clock.after(ms, call),
    soon: (call) => clock.soon(call),
  } as Clock);
  /** Who was served, in order. */
  const served: string[] = [];
  /** How many were served when the loop came to other work. */
  const seen: number[] = [];
  const look = (): void => {
    seen.push(served.length);
    if (seen.length < 100) clock.soon(look);
  };
  const enter = (name: string, costs: readonly number[], takesMs = 0): void => {
    const left = [...costs];
    const taker: TurnTaker = {
      nextCostUs: () => left[0],
      takeNext: () => {
        left.shift();
        computedMs += takesMs;
        served.push(name);
      },
    };
    turns.enter(taker);
  };
  return { ...place, served, seen, look, enter };
}

const small = (count: number): number[] => Array.from({ length: count }, () => REQUEST_COST_US);

suite('turns of programs', (test) => {
  test('a flood of small requests: so many in a turn, then all else of the agent', () => {
    const { served, seen, look, enter, run } = play();
    look();
    enter('a', small(10 * IN_TURN));
    assert.is(served.length, IN_TURN);
    run();
    assert.is(served.length, 10 * IN_TURN);
    for (const [i, count] of seen.entries()) {
      if (i > 0) assert.ok(count - (seen[i - 1] as number) <= IN_TURN, 'one turn between two looks at other work');
    }
  });

  test('connections are served one after the other', () => {
    const { served, enter, run } = play();
    enter('a', small(IN_TURN + 100));
    enter('b', small(10));
    enter('c', small(1));
    run();
    const from = served.slice(IN_TURN, IN_TURN + 6).join('');
    assert.is(from, 'abcaba');
    assert.is(served.length, IN_TURN + 111);
  });

  test('an expensive request is followed by a rest as long, of such requests only', () => {
    const { served, enter, run } = play();
    enter('a', [100_000, 100_000]);
    enter('b', [100_000]);
    assert.equal(served, ['a']);
    run(99);
    enter('c', small(1));
    run(0);
    assert.equal(served, ['a', 'c']);
    run(2);
    assert.is(served.length, 3);
    run(100);
    assert.is(served.length, 4);
  });

  test('one that takes longer than its cost says is followed by a rest as long as it took', () => {
    const { served, enter, run } = play();
    enter('a', small(1), 50);
    enter('b', [1000]);
    run(48);
    assert.equal(served, ['a']);
    run(4);
    assert.equal(served, ['a', 'b']);
  });

  test('one whose next request cannot be taken is passed over', () => {
    const { served, enter, run } = play();
    enter('a', []);
    enter('b', small(1));
    run();
    assert.equal(served, ['b']);
  });
});
