/** Strict collectives: who is refused, and when; what a decision carries; what does not swallow a shrink. */

import type { CollectiveKind } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { Agreement, type Vote } from '../../dist/programs/agreement.js';

const LIMITS = { partsBytesMax: 100, refusesPairs: ({ size }: { size: number }) => (size > 2 ? 'too many keys' : '') };
const DEAD = { isFailure: true, reason: 'it was ended by SIGKILL', host: 'b' };
const DONE = { isFailure: false, reason: 'it ended with status 0', host: 'b' };

function vote(rank: number, kind: CollectiveKind, more: Partial<Vote> = {}): Vote {
  const part = Uint8Array.of(rank);
  return {
    rank, kind, sequence: 1, number: 10 + rank, host: 0, flag: true, root: 0, form: 'bytes', length: part.length, part,
    pairs: [], ...more,
  };
}

function agreementOf(size: number, ...votes: Vote[]): Agreement {
  const agreement = new Agreement(size, LIMITS);
  for (const each of votes) agreement.vote(each);
  return agreement;
}

/** The ranks of the next refusal, its code, and why. */
function refused(agreement: Agreement): [number[], string, string] | undefined {
  const [first] = agreement.refusals();
  return first && [first.votes.map(({ rank }) => rank), first.code, first.reason];
}

suite('strict collectives', (test) => {
  test('parts come in the order of ranks: of all, or of the root', () => {
    const gather = agreementOf(3, vote(2, 'allgather'), vote(0, 'allgather'), vote(1, 'allgather')).decide();
    assert.equal(gather?.parts.map(([rank, , bytes]) => [rank, bytes[0]]), [[0, 0], [1, 1], [2, 2]]);
    const root = { root: 1 };
    const broadcast = agreementOf(2, vote(0, 'broadcast', root), vote(1, 'broadcast', root)).decide();
    assert.equal(broadcast?.parts.map(([rank]) => rank), [1]);
  });

  test('a value that its rank could not send fails the collective, and the next is open', () => {
    const agreement = agreementOf(2, vote(0, 'gather'), vote(1, 'gather', { flag: false }));
    const decision = agreement.decide();
    assert.equal([decision?.code, decision?.parts], ['STCI_CLIENT_LIMIT', []]);
    assert.match(decision?.reason ?? '', /the value of rank 1 cannot be sent/);
    for (const rank of [0, 1]) agreement.vote(vote(rank, 'gather', { sequence: 2 }));
    assert.is(agreement.decide()?.code, '');
  });

  test('a rank that ends before its part: all who wait are refused at once, and who calls later', () => {
    const agreement = agreementOf(4, vote(0, 'barrier'), vote(1, 'barrier'));
    agreement.ended(2, DEAD);
    const reason = 'rank 2 on host b was ended by SIGKILL';
    assert.equal(refused(agreement), [[0, 1], 'STCI_CLIENT_RANK_LOST', reason]);
    agreement.vote(vote(3, 'barrier'));
    assert.equal(refused(agreement), [[3], 'STCI_CLIENT_RANK_LOST', reason]);
    agreement.vote(vote(0, 'allgather'));
    assert.is(refused(agreement)?.[1], 'STCI_CLIENT_RANK_LOST', 'until a shrink');
    for (const rank of [0, 1, 3]) agreement.vote(vote(rank, 'shrink'));
    assert.equal(agreement.decide()?.agreed.ranks, [[0, 1], [3, 3]]);
    for (const rank of [0, 1, 3]) agreement.vote(vote(rank, 'barrier', { sequence: 2 }));
    assert.is(agreement.decide()?.code, '');
  });

  test('ranks that have ended well are not told as lost; all get the code of the first until a shrink', () => {
    const agreement = agreementOf(3, vote(0, 'barrier'));
    agreement.ended(2, DONE);
    assert.equal(refused(agreement), [[0], 'STCI_CLIENT_RANK_ENDED', 'rank 2 on host b ended with status 0']);
    agreement.ended(1, DEAD);
    agreement.vote(vote(0, 'barrier'));
    assert.is(refused(agreement)?.[1], 'STCI_CLIENT_RANK_ENDED');
    const both = agreementOf(3);
    both.ended(2, DONE);
    both.ended(1, DEAD);
    both.vote(vote(0, 'barrier'));
    assert.is(refused(both)?.[1], 'STCI_CLIENT_RANK_LOST');
  });

  test('the ends of 16000 ranks of which none waits cost nothing for each other', () => {
    const agreement = new Agreement(16_000, LIMITS);
    const begin = performance.now();
    for (let rank = 1; rank < 16_000; rank++) agreement.ended(rank, DEAD);
    assert.ok(performance.now() - begin < 1500, `${performance.now() - begin} ms`);
    agreement.vote(vote(0, 'barrier'));
    assert.is(refused(agreement)?.[1], 'STCI_CLIENT_RANK_LOST');
  });

  test('of parts that are too much together none is kept', () => {
    const part = new Uint8Array(60);
    const big = { part, length: 60 };
    const votes = [0, 1].map((rank) => vote(rank, 'allgather', big));
    const kept = (): number[] => {
      const agreement = agreementOf(4, ...votes);
      agreement.ended(3, DEAD);
      return agreement.refusals().flatMap((refusal) => refusal.votes.map((each) => each.part.length));
    };
    assert.equal(kept(), [0, 0]);
    votes.pop();
    assert.equal(kept(), [60]);
    const decision = agreementOf(2, vote(0, 'allgather', big), vote(1, 'allgather', big)).decide();
    assert.equal([decision?.code, decision?.parts.length], ['STCI_CLIENT_LIMIT', 0]);
    assert.ok(decision?.reason.startsWith('the ranks brought 120 bytes'));
  });

  test('one that leaves with 0 before a barrier is named as well', () => {
    const agreement = agreementOf(2, vote(0, 'barrier'));
    agreement.ended(1, DONE);
    assert.equal(refused(agreement)?.[2], 'rank 1 on host b ended with status 0');
  });

  test('a rank that ends after its part has had its say; the next one fails', () => {
    const agreement = agreementOf(3, vote(2, 'allgather'), vote(0, 'allgather'));
    agreement.ended(2, DEAD);
    agreement.vote(vote(1, 'allgather'));
    assert.is(refused(agreement), undefined);
    const decision = agreement.decide();
    assert.equal([decision?.code, decision?.parts.length, decision?.agreed.ranks], ['', 3, [[0, 1]]]);
    agreement.vote(vote(0, 'barrier', { sequence: 2 }));
    assert.is(refused(agreement)?.[1], 'STCI_CLIENT_RANK_LOST');
  });

  test('who waits in a barrier that a dead rank had called follows the others to their shrink', () => {
    const agreement = agreementOf(3, vote(2, 'barrier'), vote(0, 'barrier'), vote(1, 'shrink'));
    agreement.ended(2, DEAD);
    assert.equal(refused(agreement)?.[0], [0]);
    agreement.vote(vote(0, 'shrink'));
    assert.equal(agreement.decide()?.agreed.ranks, [[0, 1]]);
  });

  test('different calls and roots: who called what', () => {
    const other = agreementOf(3, vote(0, 'barrier'), vote(1, 'barrier'), vote(2, 'gather', { root: 1 })).decide();
    const told = 'ranks 0-1 called barrier(), rank 2 called gather() with root 1. '
      + 'All ranks must call the same, in the same order';
    assert.equal([other?.code, other?.reason], ['STCI_CLIENT_MISMATCH', told]);
    const roots = agreementOf(2, vote(0, 'broadcast'), vote(1, 'broadcast', { root: 1 })).decide();
    assert.is(roots?.code, 'STCI_CLIENT_MISMATCH');
  });

  test('too many bytes, keys put twice, too many keys: the same error at all', () => {
    const large = { length: 60 };
    assert.is(agreementOf(2, vote(0, 'gather', large), vote(1, 'gather', large)).decide()?.code, 'STCI_CLIENT_LIMIT');
    const put = (...keys: string[]): Partial<Vote> => ({ pairs: keys.map((key) => [key, 'json', Uint8Array.of()]) });
    const twice = agreementOf(2, vote(0, 'exchange', put('a', 'b')), vote(1, 'exchange', put('b'))).decide();
    assert.equal([twice?.code, twice?.reason], ['STCI_CLIENT_DUPLICATE', "key 'b' was put by ranks 0 and 1"]);
    const many = agreementOf(2, vote(0, 'exchange', put('a', 'b')), vote(1, 'exchange', put('c'))).decide();
    assert.equal([many?.code, many?.reason], ['STCI_CLIENT_LIMIT', 'too many keys']);
  });

  test('a rank that was started again is refused until it shrinks', () => {
    const agreement = agreementOf(2);
    agreement.ended(1, DEAD);
    agreement.returned(1);
    agreement.vote(vote(1, 'barrier'));
    assert.equal(refused(agreement)?.slice(0, 2), [[1], 'STCI_CLIENT_MISMATCH']);
  });

  test('5 000 seeds: each strict call ends, at all alike, whoever dies meanwhile', () => {
    let failures = 0;
    for (let seed = 1; seed <= 5000; seed++) failures += playStrict(seed);
    assert.ok(failures > 2000, `${failures} failed collectives`);
  });
});

/** Ranks call barriers and, when one fails, shrink. Returns how many barriers have failed. */
function playStrict(seed: number): number {
  const pick = seededIntegers(seed);
  const size = 2 + pick(6);
  const agreement = new Agreement(size, LIMITS);
  const alive = new Set(Array.from({ length: size }, (_, rank) => rank));
  /** What each waits for; undefined: it is about to call. */
  const waits = new Map<number, CollectiveKind>();
  /** Shrinks and successful barriers since the last of them, as each rank counts them. */
  const places = new Map([...alive].map((rank) => [rank, { epoch: 0, round: 0 }]));
  const next = new Map<number, CollectiveKind>([...alive].map((rank) => [rank, 'barrier']));
  const outcomes = new Map<string, string>();
  let failures = 0;
  const end = (rank: number, code: string): void => {
    const place = places.get(rank) as { epoch: number; round: number };
    const key = `${place.epoch} ${place.round}`;
    const known = outcomes.get(key) ?? code;
    outcomes.set(key, known);
    assert.is(code, known, `seed ${seed}: ${key} at rank ${rank}`);
    waits.delete(rank);
    if (code === '') place.round += 1;
    else failures += 1;
    next.set(rank, code === '' ? 'barrier' : 'shrink');
  };
  const settle = (): void => {
    for (const { votes, code } of agreement.refusals()) for (const { rank } of votes) end(rank, code);
    const decision = agreement.decide();
    if (decision === undefined) return;
    assert.is(decision.code, '', `seed ${seed}: ${decision.reason}`);
    for (const rank of [...waits.keys()]) {
      assert.is(waits.get(rank), decision.agreed.kind, `seed ${seed}`);
      if (decision.agreed.kind === 'barrier') end(rank, '');
      else {
        places.set(rank, { epoch: (places.get(rank)?.epoch ?? 0) + 1, round: 0 });
        waits.delete(rank);
        next.set(rank, 'barrier');
      }
    }
  };
  for (let step = 0; step < 60; step++) {
    const rank = pick(size);
    if (!alive.has(rank)) continue;
    if (pick(20) === 0 && alive.size > 1) {
      alive.delete(rank);
      waits.delete(rank);
      agreement.ended(rank, pick(2) === 0 ? DEAD : DONE);
    } else if (!waits.has(rank)) {
      const kind = next.get(rank) as CollectiveKind;
      waits.set(rank, kind);
      agreement.vote(vote(rank, kind, { sequence: agreement.decided + 1 }));
    }
    settle();
  }
  // All that live call what is next, until each has ended what it waited for then: nobody is left waiting.
  const owed = new Set(waits.keys());
  for (let turn = 0; turn < 4 * size && owed.size > 0; turn++) {
    for (const rank of alive) {
      if (waits.has(rank)) continue;
      owed.delete(rank);
      waits.set(rank, next.get(rank) as CollectiveKind);
      agreement.vote(vote(rank, next.get(rank) as CollectiveKind, { sequence: agreement.decided + 1 }));
      settle();
    }
  }
  assert.is(owed.size, 0, `seed ${seed}: ${[...owed]} wait, ${[...alive]} live`);
  return failures;
}
