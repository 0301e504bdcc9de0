/** Collectives of programs at their session agent: votes that go together, and what comes of them. */

import { COLLECTIVES, programRecord, type Rank } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
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

  test('parts of one collective beyond its bound are not sent, and those of the next are', () => {
    const bytesMax = 1 << 20;
    const { sent, connect, hello, deliver } = play(2 * bytesMax);
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
