/** Agreement among ranks: uniform, whoever dies at whatever moment; checked against a model over many seeds. */

import { isInRanges, rankRanges, ranksInRanges, type CollectiveKind } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { Agreement as Real, type Decision as Whole, type Vote } from '../../dist/programs/agreement.js';

const vote = (rank: number, sequence: number, flag = true, kind: CollectiveKind = 'agree'): Vote =>
  ({
    rank, sequence, kind, flag, number: sequence, host: 0, root: 0, form: 'json', length: 0, part: new Uint8Array(),
    pairs: [],
  });

type Decision = Whole['agreed'] & { readonly sequence: number };

/** Of ranks of which it does not matter where and how they end. */
class Agreement extends Real {
  constructor(size: number) {
    super(size, { partsBytesMax: 100, refusesPairs: ({ size: keys }) => (keys > 2 ? 'too many' : '') });
  }

  end(rank: number, isFailure: boolean): void {
    const reason = isFailure ? 'it was ended by SIGKILL' : 'it ended with status 0';
    this.ended(rank, { isFailure, reason, host: 'b' });
  }

  plain(): Decision | undefined {
    const decision = this.decide();
    return decision && { ...decision.agreed, sequence: decision.sequence };
  }
}

/** What all call in the model: every other time `shrink`, the last time too. */
const ROUNDS = 6;
const kindOf = (sequence: number) => (sequence % 2 === 0 ? 'shrink' as const : 'agree' as const);

interface Played {
  readonly told: readonly Map<number, Decision>[];
  readonly decided: readonly Decision[];
  readonly deaths: ReadonlySet<number>;
  /** Ranks that died and took part again. */
  readonly again: number;
}

/**
 * A job whose ranks call `rounds` agreements one after the other, over session agents that get each message late, in
 * order. Ranks die, and some are started again. What each rank's last process was told, by sequence.
 */
function play(seed: number): Played {
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
  /** As the session agent knows it. */
  const known = told.map(() => 0);
  /** Its vote waits for the decision; the first of a process that was started again is always `shrink`. */
  const waits = told.map(() => false);
  const takesPart = told.map(() => true);
  const flags = new Map<string, boolean>();
  const isMember = told.map(() => true);
  /** How often each was started, and how often the controller knows it was. */
  const lives = told.map(() => 1);
  const knownLives = told.map(() => 1);
  const decide = (): void => {
    const decision = agreement.plain();
    if (decision === undefined) return;
    decided.push(decision);
    for (const rank of ranksInRanges(decision.joined)) isMember[rank] = true;
    for (const rank of told.keys()) {
      const life = isInRanges(decision.joined, rank) ? knownLives[rank] : undefined;
      down[rank]?.push(() => hear(rank, decision, life === lives[rank]));
    }
  };
  const call = (rank: number, flag = pick(4) > 0): void => {
    const sequence = (known[rank] as number) + 1;
    const kind = takesPart[rank] === true ? kindOf(sequence) : 'shrink';
    waits[rank] = true;
    up[rank]?.push(() => {
      if (sequence === agreement.decided + 1 && isMember[rank] === true) flags.set(`${sequence} ${rank}`, flag);
      agreement.vote(vote(rank, sequence, flag, kind));
      decide();
    });
  };
  const hear = (rank: number, decision: Decision, joins: boolean): void => {
    known[rank] = decision.sequence;
    if (!alive.has(rank) || waits[rank] !== true) return;
    // What it took part in before it was started again does not concern it.
    if (!(takesPart[rank] === true ? isInRanges(decision.ranks, rank) : joins)) return call(rank);
    waits[rank] = false;
    takesPart[rank] = true;
    told[rank]?.set(decision.sequence, decision);
    if (decision.sequence < ROUNDS) call(rank);
    else if (up[rank]?.push(() => (agreement.end(rank, false), decide())) !== undefined) alive.delete(rank);
  };
  const die = (rank: number): void => {
    const isAgain = pick(2) === 0;
    const life = (lives[rank] as number) + 1;
    lives[rank] = life;
    deaths.add(rank);
    [waits[rank], takesPart[rank]] = [false, false];
    told[rank]?.clear();
    // Its vote may be on its way, or be lost with it.
    const before = pick(2) === 0 ? [] : up[rank] ?? [];
    up[rank] = [...before, () => {
      isMember[rank] = false;
      agreement.end(rank, true);
      if (isAgain) {
        agreement.returned(rank);
        knownLives[rank] = life;
      }
      decide();
    }];
    if (isAgain) call(rank);
    else alive.delete(rank);
  };
  for (const rank of alive) call(rank);
  for (let step = 0; step < 5000; step++) {
    const queues = [...up, ...down].filter((queue) => queue.length > 0);
    if (queues.length === 0) break;
    const victim = pick(80);
    if (alive.has(victim) && alive.size > 1 && deaths.size < size - 1) die(victim);
    else queues[pick(queues.length)]?.shift()?.();
  }
  for (const decision of decided) {
    const votes = [...flags].filter(([key]) => key.startsWith(`${decision.sequence} `)).map(([, flag]) => flag);
    assert.is(decision.flag, votes.every(Boolean), `seed ${seed}: the flag of ${decision.sequence}`);
    assert.not.ok(decision.isMismatch, `seed ${seed}: ${decision.sequence} is no mismatch`);
  }
  assert.equal([...alive], [], `seed ${seed}: ranks wait in vain`);
  return { told, decided, deaths, again: takesPart.filter((part, rank) => part && deaths.has(rank)).length };
}

suite('agreement', (test) => {
  test('what is kept of a vote, and of its keys, retains nothing else of the message that it came in', () => {
    const agreement = new Agreement(1);
    const came = new Uint8Array(1 << 20);
    const [part, value] = [came.subarray(5, 9), came.subarray(9, 10)];
    agreement.vote({ ...vote(0, 1, true, 'exchange'), length: 5, part, pairs: [['k', 'bytes', value]] });
    assert.equal(agreement.decide()?.pairs.map(([, , own]) => own.buffer.byteLength), [1]);
    agreement.vote({ ...vote(0, 2, true, 'allgather'), length: 4, part });
    assert.equal(agreement.decide()?.parts.map(([, , own]) => own.buffer.byteLength), [4]);
  });

  test('is decided once, by the last awaited vote, with the flags of all who voted', () => {
    const agreement = new Agreement(3);
    agreement.vote(vote(0, 1));
    agreement.vote(vote(2, 1, false));
    assert.is(agreement.plain(), undefined);
    agreement.vote(vote(1, 1));
    const { ranks, failed, ...rest } = agreement.plain() as Decision;
    const wanted = { kind: 'agree', isMismatch: false, flag: false, joined: [], missing: [], sequence: 1 };
    assert.equal([rest, ranks, failed], [wanted, [[0, 2]], []]);
    assert.is(agreement.plain(), undefined, 'once');
  });

  test('does not wait for the dead, nor for those that ended well; a vote before its death counts', () => {
    const agreement = new Agreement(4);
    agreement.vote(vote(0, 1));
    agreement.vote(vote(3, 1, false));
    agreement.end(3, true);
    agreement.end(1, false);
    assert.is(agreement.plain(), undefined);
    agreement.vote(vote(1, 1, false));
    agreement.end(2, true);
    const { flag, ranks, failed } = agreement.plain() as Decision;
    assert.equal([flag, ranks, failed], [false, [[0, 0]], [[2, 3]]]);
  });

  test('a rank that was started again is not awaited; it joins with the next shrink of the others', () => {
    const agreement = new Agreement(3);
    const shrink = (rank: number, sequence: number) => vote(rank, sequence, true, 'shrink');
    agreement.end(2, true);
    agreement.returned(2);
    agreement.vote(shrink(2, 1));
    for (const rank of [0, 1]) agreement.vote(vote(rank, 1));
    const before = agreement.plain() as Decision;
    assert.equal([before.ranks, before.joined, before.failed, before.isMismatch], [[[0, 1]], [], [[2, 2]], false]);
    for (const rank of [0, 1]) agreement.vote(shrink(rank, 2));
    const { ranks, joined, failed } = agreement.plain() as Decision;
    assert.equal([ranks, joined, failed], [[[0, 2]], [[2, 2]], []]);
    for (const rank of [0, 1]) agreement.vote(vote(rank, 3));
    assert.is(agreement.plain(), undefined, 'from now on it is awaited');
  });

  test('where all others have ended, ranks that were started again go on alone', () => {
    const agreement = new Agreement(3);
    for (const rank of [1, 2]) agreement.end(rank, true);
    for (const rank of [1, 2]) agreement.returned(rank);
    agreement.vote(vote(1, 1, true, 'shrink'));
    agreement.end(0, false);
    assert.is(agreement.plain(), undefined);
    agreement.vote(vote(2, 1, true, 'shrink'));
    assert.equal((agreement.plain() as Decision).joined, [[1, 2]]);
  });

  test('different calls are a mismatch for all; a vote on a later agreement breaks the protocol', () => {
    const agreement = new Agreement(2);
    agreement.vote(vote(0, 1));
    agreement.vote({ ...vote(1, 1), kind: 'barrier' });
    assert.ok((agreement.plain() as Decision).isMismatch);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => agreement.vote(vote(0, 3)));
  });

  test('ranges of ranks', () => {
    assert.equal(rankRanges([0, 1, 2, 5, 7, 8]), [[0, 2], [5, 5], [7, 8]]);
    assert.equal(ranksInRanges([[0, 2], [5, 5]]), [0, 1, 2, 5]);
    assert.equal([isInRanges([[2, 4]], 4), isInRanges([[2, 4]], 5)], [true, false]);
  });

  test('10 000 seeds with deaths and starts at any moment: uniform, complete, in order', () => {
    let [withDeaths, withJoined] = [0, 0];
    for (let seed = 1; seed <= 10_000; seed++) {
      const { told, decided, deaths, again } = play(seed);
      if (deaths.size > 0) withDeaths += 1;
      if (again > 0) withJoined += 1;
      for (const [i, { sequence }] of decided.entries()) assert.is(sequence, i + 1, `seed ${seed}: in order`);
      assert.ok(decided.length >= ROUNDS, `seed ${seed}: ${decided.length} decisions`);
      for (const [rank, heard] of told.entries()) {
        if (!deaths.has(rank)) assert.is(heard.size, ROUNDS, `seed ${seed}: rank ${rank} was told of ${heard.size}`);
        for (const [sequence, decision] of heard) assert.is(decision, decided[sequence - 1], `seed ${seed}`);
      }
      for (const { ranks, failed } of decided) {
        const lost = ranksInRanges(failed);
        assert.ok(lost.every((rank) => deaths.has(rank)), `seed ${seed}: a living rank is called lost`);
        assert.not.ok(ranksInRanges(ranks).some((rank) => lost.includes(rank)), `seed ${seed}: lost and here`);
      }
    }
    assert.ok(withDeaths > 3000 && withJoined > 1000, `deaths in ${withDeaths} seeds, joined in ${withJoined}`);
  }, { timeoutMs: 60_000 });
});
