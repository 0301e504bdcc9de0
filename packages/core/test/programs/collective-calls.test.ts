/** Collectives of programs at their session agent: votes that go together, and what comes of them. */

import { COLLECTIVES, RecordReader, programRecord, type Rank } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import type { AgentNode } from '../../dist/node/node.js';
import { CollectiveCalls } from '../../dist/programs/collective-calls.js';
import { Program } from '../../dist/programs/program.js';
import { testPlace } from '../world.js';
import { VOTE, decision, play, state } from './port-help.js';

/** A vote of kind `agree` on its way to the controller. */
const wire = (rank: Rank, number: number, flag: boolean): unknown[] =>
  [rank, number, 0, flag, 0, 0, 0, new Uint8Array(), []];
const ALL_GATHERED = {
  kind: COLLECTIVES.indexOf('allgather'), flag: true, isMismatch: false, ranks: [[0, 3]], joined: [], failed: [],
};

suite('collectives of programs', (test) => {
  test('votes wait for the state, go together, and are answered; one that came too late is sent again', () => {
    const { sent, connect, hello, deliver } = play();
    const [two, three] = [connect(), connect()];
    two.send(hello(2), VOTE);
    three.send(hello(3), { ...VOTE, flag: false });
    assert.is(sent.length, 2);
    assert.equal([two.told, three.told], [[], []]);
    deliver('program.state', state(4, []));
    assert.equal(sent[2], ['program.votes', { host: 1, sequence: 5, votes: [wire(2, 1, true), wire(3, 2, false)] }]);
    const agreed = { flag: false, isMismatch: false, ranks: [[0, 2]], joined: [], failed: [[3, 3]] };
    deliver('program.agreed', decision(agreed));
    const told = { ...agreed, kind: 'agree', missing: [] };
    assert.equal(two.told[1], { type: 'agreed', code: '', reason: '', decided: 5, agreed: told, parts: [] });
    assert.is(three.told.length, 1);
    assert.equal(sent[3], ['program.votes', { host: 1, sequence: 6, votes: [wire(3, 2, false)] }]);
  });

  test('the parts of an allgather come with their heads, one behind the other', () => {
    const { connect, hello, deliver } = play();
    const [two, three] = [connect(), connect()];
    for (const [peer, rank, bytes] of [[two, 2, 'ab'], [three, 3, 'cde']] as const) {
      peer.send(hello(rank), programRecord({ type: 'vote', kind: 'allgather' }, Buffer.from(bytes)));
    }
    deliver('program.state', state(4, []));
    const agreed = { ...ALL_GATHERED, joined: [[3, 3]] };
    const parts = [[0, 0, 'ab'], [2, 0, 'cde']].map(([rank, form, text]) => [rank, form, Buffer.from(text as string)]);
    deliver('program.agreed', { ...decision(agreed, [[2, 1, 'b']]), parts });
    for (const { told, bodies } of [two, three]) {
      const last = told.at(-1);
      const heads = last?.type === 'agreed' && last.parts;
      assert.equal([heads, bodies.at(-1)], [[[0, 2, 'bytes'], [2, 3, 'bytes']], 'abcde']);
    }
  });

  test('a decision that comes to this host by itself, with the parts, is taken once; others as they come', () => {
    const { connect, hello, deliver } = play({ isKnown: true });
    const two = connect();
    const gather = { type: 'vote', kind: 'gather', root: 2 };
    two.send(hello(2), gather);
    const gathered = { ...decision({ ...ALL_GATHERED, kind: COLLECTIVES.indexOf('gather') }), sequence: 1 };
    deliver('program.agreed', { ...gathered, partsAt: 1 });
    assert.is(two.told.length, 1);
    deliver('program.agreed', { ...gathered, partsTo: 2, parts: [[0, 0, Buffer.from('ab')]] });
    assert.equal([two.told.length, two.bodies.at(-1)], [2, 'ab']);
    two.send({ ...gather, root: 0 });
    deliver('program.agreed', { ...gathered, sequence: 2, partsAt: 0 });
    assert.equal([two.told.length, two.bodies.at(-1)], [3, '']);
  });

  test('parts of one collective beyond its bound are not sent, and those of the next are', () => {
    const bytesMax = 1 << 20;
    const { sent, connect, hello, deliver } = play({ bytesMax: 2 * bytesMax });
    const [two, three] = [connect(), connect()];
    const part = Buffer.alloc(bytesMax / 2 + 1);
    const call = programRecord({ type: 'vote', kind: 'allgather' }, part);
    const lengths = (): unknown => (sent.at(-1)?.[1] as { votes: unknown[][] }).votes.map((vote) =>
      [vote[0], vote[6], (vote[7] as Uint8Array | undefined)?.length]);
    two.send(hello(2), call);
    three.send(hello(3), call);
    deliver('program.state', state(4, []));
    assert.equal(lengths(), [[2, part.length, part.length], [3, part.length, 0]]);
    deliver('program.agreed', decision(ALL_GATHERED));
    three.send(call);
    assert.equal(lengths(), [[3, part.length, part.length]]);
  });
});

const BYTES_MAX = 100;

/** The votes of ranks 2 and 3 on host 1 of a job of four, of which rank 3 is attempt `attempt`. */
function voting(attempt = 1) {
  const place = testPlace();
  const sent: [number, unknown[][]][] = [];
  const told: string[] = [];
  const pairs: unknown[] = [];
  const program = (rank: Rank, of: number): Program => {
    const one = new Program(rank, of, '');
    const reader = new RecordReader({ lineBytesMax: 1 << 20, bytesMax: 1 << 20 }, (head, bytes) => {
      const { code, reason, parts, agreed, decided } = head as never as {
        code: string; reason: string; parts: unknown[]; decided: number; agreed: { flag: boolean; isMismatch: boolean };
      };
      assert.ok(!agreed.isMismatch);
      const what = code === '' ? `${decided} ${agreed.flag}` : `${code} ${agreed.flag}: ${reason}`;
      told.push(`${rank}: ${what}${parts.length === 0 ? '' : ` with ${Buffer.from(bytes).toString()}`}`);
    });
    one.connection = {
      close: (why: string) => told.push(`${rank} closed: ${why}`), send: () => undefined,
      sendRecord: (record: Uint8Array) => void reader.add(record),
    } as never;
    return one;
  };
  const [two, three] = [program(2, 1), program(3, attempt)];
  const node = {
    platform: place.platform, params: { int: () => 2 * BYTES_MAX },
    messages: {
      sendList: (_to: number, _name: string, items: unknown[], bodyOf: (items: unknown[]) => {
        sequence: number; votes: unknown[][];
      }) => {
        const { sequence, votes } = bodyOf(items);
        sent.push([sequence, votes]);
      },
    },
  } as unknown as AgentNode;
  const holds = new Scope('job');
  const votes = new CollectiveCalls({
    node, holds, host: 1, size: 4, programs: new Map([[2, two], [3, three]]), onPairs: (some) => void pairs.push(some),
  });
  const call = (of: Program, kind: string, text = '', more: object = {}): void =>
    votes.vote(of, { type: 'vote', kind, ...more } as never, Buffer.from(text));
  /** `sequence: rank.number flag length part` of each vote. */
  const next = (ms = 1): string[] => {
    place.run(ms);
    return sent.splice(0).map(([sequence, list]) => {
      const wires = list.map(([rank, number, , flag, , , length, part, keys]) => {
        const names = (keys as [string][]).map(([key]) => key);
        return [`${String(rank)}.${String(number)}`, flag, length, Buffer.from(part as Uint8Array), ...names].join(' ');
      });
      return `${sequence}: ${wires.join()}`;
    });
  };
  const agree = (sequence: number, more: object = {}): void => votes.onAgreed({
    ...decision({ kind: 0, flag: true, isMismatch: false, ranks: [[0, 3]], joined: [], failed: [] }), sequence, ...more,
  } as never);
  const refuse = (...calls: [Rank, number][]): void =>
    votes.onRefused({ calls, code: 'STCI_CLIENT_RANK_LOST', reason: 'r', failed: [], missing: [] });
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return { votes, holds, two, three, call, next, agree, refuse, isQuiet, pairs, told: () => told.splice(0) };
}

suite('votes of a host', (test) => {
  test('the last one sends all at once; one alone is sent after 10 ms, and leaves no timer', () => {
    const { votes, two, three, call, next, isQuiet } = voting();
    assert.is(votes.decided, 0);
    votes.onState(4);
    assert.is(votes.decided, 4);
    call(two, 'agree', '', { flag: false });
    assert.equal([next(9), next(1)], [[], ['5: 2.1 false 0 ']]);
    assert.is(isQuiet(), true);
    call(three, 'agree');
    assert.equal([next(), isQuiet()], [['5: 3.2 true 0 '], true], 'a flag that is not given is true');
    const both = voting();
    both.votes.onState(0);
    both.call(both.two, 'agree');
    both.call(both.three, 'agree');
    assert.equal([both.next(), both.isQuiet(), both.next(1000)], [['1: 2.1 true 0 ,3.2 true 0 '], true, []]);
  });

  test('nothing is sent after the end; a decision may come before the state', () => {
    const { votes, holds, two, three, call, next, agree } = voting();
    agree(7);
    votes.onState(3);
    assert.is(votes.decided, 7, 'the older one says nothing');
    call(three, 'agree');
    holds.close();
    assert.equal(next(1000), []);
    call(two, 'agree');
    assert.equal(next(1000), []);
  });

  test('a root beyond the last rank, and a second vote before the decision, end the connection', () => {
    const { two, three, call, told } = voting();
    call(two, 'gather', '', { root: 4 });
    assert.equal(told(), ['2 closed: root 4 is no rank: the job has 4 ranks, from 0']);
    call(three, 'gather', '', { root: 3 });
    assert.equal(told(), []);
    call(three, 'gather', '', { root: 3 });
    assert.equal(told(), ['3 closed: it voted again before the decision']);
  });

  test('a new connection takes up the call that waits, and no other', () => {
    const { votes, two, call, next, agree, told } = voting();
    votes.onState(0);
    call(two, 'agree');
    next(10);
    two.awaitsVote = false; // Its connection has ended.
    call(two, 'barrier');
    assert.match(told().join(), /^2: STCI_CLIENT_MISMATCH false: .*agree.* of this rank still waits; call it again$/);
    call(two, 'agree', '', { root: 1 });
    assert.match(told().join(), /STCI_CLIENT_MISMATCH/);
    call(two, 'agree');
    assert.equal([next(1000), told()], [[], []], 'it is sent already');
    agree(1);
    assert.equal(told(), ['2: 1 true']);
    call(two, 'agree');
    next(10);
    two.awaitsVote = false;
    agree(2);
    assert.equal([told(), two.vote], [[], undefined], 'nobody waits for it');
  });

  test('a refusal ends the call that it names, and the next one has its pairs and its room', () => {
    const { votes, two, three, call, next, refuse, told } = voting();
    votes.onState(0);
    two.put(1, ['k', 'bytes', Buffer.from('v')]);
    call(two, 'exchange', 'x'.repeat(20));
    call(three, 'agree');
    const [first = ''] = next();
    refuse([2, 9], [1, 1]);
    assert.equal([told(), two.vote === undefined], [[], false], 'another call, another host');
    refuse([2, 1]);
    assert.equal([told(), two.vote], [['2: STCI_CLIENT_RANK_LOST false: r'], undefined]);
    refuse([2, 1]);
    assert.equal(told(), [], 'once');
    assert.is(two.awaitsVote, false);
    call(two, 'exchange', 'x'.repeat(20));
    const [again = ''] = next();
    assert.is(again.replace('2.3', '2.1'), (first.split(',')[0] as string), 'the same length, all of it');
    assert.match(first, /^1: 2\.1 true 86 x{20} k,/);
  });

  test('the parts of a host have a bound, to the byte, beyond which lengths alone are sent', () => {
    for (const [bytes, part] of [[60, 'y'.repeat(60)], [61, '']] as const) {
      const { votes, two, three, call, next, agree } = voting();
      votes.onState(0);
      call(two, 'allgather', 'x'.repeat(40));
      call(three, 'allgather', 'y'.repeat(bytes));
      assert.equal(next(), [`1: 2.1 true 40 ${'x'.repeat(40)},3.2 true ${bytes} ${part}`]);
      agree(1);
      call(two, 'allgather', 'x'.repeat(100));
      assert.equal(next(10), [`2: 2.3 true 100 ${'x'.repeat(100)}`], 'the next has all of it again');
    }
  });

  test('parts for one rank are told to that one, and to others without', () => {
    const { votes, two, three, call, agree, told } = voting();
    votes.onState(0);
    for (const rank of [two, three]) call(rank, 'gather', '', { root: 3 });
    agree(1, { partsTo: 3, parts: [[0, 0, Buffer.from('ab')]] });
    assert.equal(told(), ['2: 1 true', '3: 1 true with ab']);
  });

  test('one that was started again is decided on from its joining on; keys are told with each decision', () => {
    const { votes, two, three, call, next, agree, told, pairs } = voting(2);
    votes.onState(0);
    call(two, 'agree');
    call(three, 'agree');
    next();
    agree(1, { pairs: ['p'], joined: [[3, 3]], joins: [[1, 1, 'b']] });
    assert.equal([told(), pairs], [['2: 1 true'], [['p']]], 'that was another attempt');
    assert.equal(next(11), ['2: 3.2 true 0 '], 'its vote is for the next');
    agree(2, { ranks: [[0, 2]], joined: [[3, 3]], joins: [[2, 1, 'b']] });
    assert.equal(told(), [], 'it takes part, and this was without it');
    agree(3);
    assert.equal(told(), ['3: 3 true']);
  });

  test('a vote that waits to be sent while others decide is sent once, and its part counts once', () => {
    const { votes, two, three, call, next, agree, told } = voting(2);
    call(two, 'allgather', 'x');
    call(three, 'allgather', 'y'.repeat(60));
    agree(1);
    call(two, 'allgather', 'z'.repeat(40));
    assert.equal(told(), ['2: 1 true']);
    assert.equal(next(100), [`2: 2.3 true 40 ${'z'.repeat(40)},3.2 true 60 ${'y'.repeat(60)}`]);
    votes.onState(1);
    assert.equal(next(100), []);
  });
});
