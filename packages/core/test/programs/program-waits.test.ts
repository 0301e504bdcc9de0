/** What programs wait for, in words. */

import { assert, suite } from '@stci/testkit';
import { WAITS_MAX, waitsOf, waitsText } from '../../dist/programs/program-waits.js';
import { Program } from '../../dist/programs/program.js';

function waiting(rank: number, receive?: { readonly from?: number; readonly tag?: string }): Program {
  const program = new Program(rank, 1, '');
  if (receive !== undefined) {
    const { from, tag } = receive;
    program.mailbox.await({ id: 1, from, tag, sinceMs: 1000 });
  }
  return program;
}

suite('what programs wait for', (test) => {
  test('receives and collectives, by rank; one that computes is not told', () => {
    const barrier = waiting(2, { from: 1 });
    barrier.vote = {
      kind: 'allgather', number: 1, sinceMs: 3000, flag: true, root: 0, form: 'bytes', length: 0, pairs: [],
      part: new Uint8Array(),
    };
    barrier.awaitsVote = true;
    const programs = [
      waiting(4, { from: 0, tag: '_r.1' }), barrier, waiting(0, { from: 2, tag: 'x' }), waiting(1, {}), waiting(3),
      waiting(5, { from: 1, tag: '_d.1.s' }),
    ];
    assert.equal(waitsText([waitsOf(programs, 13_000)]).split('; '), [
      "rank 0 waits in receive(from 2, tag 'x') since 12.0 s", 'rank 1 waits in receive() since 12.0 s',
      'rank 2 waits in allGather() since 10.0 s', 'rank 4 waits in a reduction, from 0 since 12.0 s',
      'rank 5 waits in a stream, from 1 since 12.0 s',
    ]);
  });

  test('so many are told, and how many more there are; none is no text', () => {
    const programs = Array.from({ length: 50 }, (_, rank) => waiting(rank, {}));
    const answers = [programs.slice(20), programs.slice(0, 20).reverse()].map((own) => waitsOf(own, 2000));
    const lines = waitsText(answers).split('; ');
    assert.is(lines.length, WAITS_MAX + 1);
    assert.equal([lines[0], lines.at(-1)], ['rank 0 waits in receive() since 1.0 s', 'and 42 more wait']);
    const ranks = lines.slice(0, -1).map((line) => Number(line.split(' ')[1]));
    assert.equal(ranks, Array.from({ length: WAITS_MAX }, (_, rank) => rank));
    assert.is(waitsText([waitsOf([waiting(1)], 0)]), '');
  });
});
