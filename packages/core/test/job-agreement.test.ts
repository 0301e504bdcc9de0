/** Agreement among ranks: uniform, whoever dies at whatever moment; checked against a model over many seeds. */

import { isInRanges, rankRanges, ranksInRanges } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { Agreement, type Decision } from '../dist/job/agreement.js';

const vote = (rank: number, sequence: number, flag = true) => ({ rank, sequence, kind: 'agree' as const, flag });

/**
 * A job whose ranks call `rounds` agreements one after the other, over session agents that get each message late, in
 * order. Ranks die. What each rank was told, by sequence.
 */
function play(seed: number): { told: Map<number, Decision>[]; decided: Decision[]; deaths: Set<number>; left: number } {
  const pick = seededIntegers(seed);
  const size = 1 + pick(9);
  const agreement = new Agreement(size);
  const told = Array.from({ length: size }, () => new Map<number, Decision>());
  const decided: Decision[] = [];
  const alive = new Set(told.keys());
  const deaths = new Set<number>();
  /** On the way to the controller and back, by rank: in order within each. */
  const up = told.map((): (() => void)[] => []);
  const down = told.map((): (() => void)[] => []);
  const known = told.map(() => 0);
  const flags = new Map<string, boolean>();
  const decide = (): void => {
    const decision = agreement.decide();
    if (decision === undefined) return;
    decided.push(decision);
    for (const rank of told.keys()) down[rank]?.push(() => hear(rank, decision));
  };
  const call = (rank: number): void => {
    const sequence = (known[rank] as number) + 1;
    const flag = pick(4) > 0;
    up[rank]?.push(() => {
      if (sequence === agreement.decided + 1) flags.set(`${sequence} ${rank}`, flag);
      agreement.vote(vote(rank, sequence, flag));
      decide();
    });
  };
  const hear = (rank: number, decision: Decision): void => {
    known[rank] = decision.sequence;
    if (!alive.has(rank)) return;
    if (isInRanges(decision.ranks, rank)) told[rank]?.set(decision.sequence, decision);
    if (decision.sequence < 4) call(rank);
  };
  const die = (rank: number): void => {
    alive.delete(rank);
    deaths.add(rank);
    // Its vote may be on its way, or be lost with it.
    const before = pick(2) === 0 ? [] : up[rank] ?? [];
    up[rank] = [...before, () => (agreement.ended(rank, true), decide())];
  };
  for (const rank of alive) call(rank);
  for (let step = 0; step < 2000; step++) {
    const queues = [...up, ...down].filter((queue) => queue.length > 0);
    if (queues.length === 0) break;
    const victim = pick(60);
    if (alive.has(victim) && alive.size > 1) die(victim);
    else queues[pick(queues.length)]?.shift()?.();
  }
  for (const decision of decided) {
    const votes = [...flags].filter(([key]) => key.startsWith(`${decision.sequence} `)).map(([, flag]) => flag);
    assert.is(decision.flag, votes.every(Boolean), `seed ${seed}: the flag of ${decision.sequence}`);
  }
  return { told, decided, deaths, left: alive.size };
}

suite('agreement', (test) => {
  test('is decided once, by the last awaited vote, with the flags of all who voted', () => {
    const agreement = new Agreement(3);
    agreement.vote(vote(0, 1));
    agreement.vote(vote(2, 1, false));
    assert.is(agreement.decide(), undefined);
    agreement.vote(vote(1, 1));
    const { ranks, failed, ...rest } = agreement.decide() as Decision;
    assert.equal([rest, ranks, failed], [{ sequence: 1, flag: false, isMismatch: false }, [[0, 2]], []]);
    assert.is(agreement.decide(), undefined, 'once');
  });

  test('does not wait for the dead, nor for those that ended well; a vote before its death counts', () => {
    const agreement = new Agreement(4);
    agreement.vote(vote(0, 1));
    agreement.vote(vote(3, 1, false));
    agreement.ended(3, true);
    agreement.ended(1, false);
    assert.is(agreement.decide(), undefined);
    agreement.vote(vote(1, 1, false));
    agreement.ended(2, true);
    const { flag, ranks, failed } = agreement.decide() as Decision;
    assert.equal([flag, ranks, failed], [false, [[0, 0]], [[2, 3]]]);
  });

  test('a rank that was started again is awaited; its former vote on what is decided counts for nothing', () => {
    const agreement = new Agreement(2);
    agreement.ended(1, true);
    agreement.vote(vote(0, 1));
    assert.equal((agreement.decide() as Decision).ranks, [[0, 0]]);
    agreement.returned(1);
    agreement.vote(vote(0, 2));
    agreement.vote(vote(1, 1));
    assert.is(agreement.decide(), undefined);
    agreement.vote(vote(1, 2));
    const { sequence, ranks, failed } = agreement.decide() as Decision;
    assert.equal([sequence, ranks, failed], [2, [[0, 1]], []]);
  });

  test('different calls are a mismatch for all; a vote on a later agreement breaks the protocol', () => {
    const agreement = new Agreement(2);
    agreement.vote(vote(0, 1));
    agreement.vote({ ...vote(1, 1), kind: 'barrier' });
    assert.ok((agreement.decide() as Decision).isMismatch);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => agreement.vote(vote(0, 3)));
  });

  test('ranges of ranks', () => {
    assert.equal(rankRanges([0, 1, 2, 5, 7, 8]), [[0, 2], [5, 5], [7, 8]]);
    assert.equal(ranksInRanges([[0, 2], [5, 5]]), [0, 1, 2, 5]);
    assert.equal([isInRanges([[2, 4]], 4), isInRanges([[2, 4]], 5)], [true, false]);
  });

  test('10 000 seeds with deaths at any moment: uniform, complete, in order', () => {
    let withDeaths = 0;
    for (let seed = 1; seed <= 10_000; seed++) {
      const { told, decided, deaths, left } = play(seed);
      if (deaths.size > 0) withDeaths += 1;
      assert.equal(decided.map(({ sequence }) => sequence), [1, 2, 3, 4].slice(0, decided.length), `seed ${seed}`);
      assert.is(decided.length, 4, `seed ${seed}: ${left} survivors wait in vain`);
      for (const [rank, heard] of told.entries()) {
        const wanted = deaths.has(rank) ? heard.size : 4;
        assert.is(heard.size, wanted, `seed ${seed}: rank ${rank} was told of ${heard.size} decisions`);
        for (const [sequence, decision] of heard) assert.is(decision, decided[sequence - 1], `seed ${seed}`);
      }
      for (const { ranks, failed } of decided) {
        const lost = ranksInRanges(failed);
        assert.ok(lost.every((rank) => deaths.has(rank)), `seed ${seed}: a living rank is called lost`);
        assert.not.ok(ranksInRanges(ranks).some((rank) => lost.includes(rank)), `seed ${seed}: lost and here`);
      }
    }
    assert.ok(withDeaths > 3000, `deaths in ${withDeaths} seeds`);
  }, { timeoutMs: 60_000 });
});
