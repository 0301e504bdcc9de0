/** What programs wait for, in words, and how long the controller waits for these. */

import { assert, suite } from '@stci/testkit';
import { WAITS_MAX, WaitSurvey, waitsOf, waitsText } from '../../dist/programs/program-waits.js';
import { Program } from '../../dist/programs/program.js';
import { testPlace } from '../world.js';

function waiting(rank: number, receive?: { readonly from?: number; readonly tag?: string }): Program {
  const program = new Program(rank, 1, '');
  if (receive !== undefined) {
    const { from, tag } = receive;
    program.mailbox.await({ id: 1, from, tag, sinceMs: 1000 });
    program.mailbox.match();
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

  test('agents that do not answer, or twice, or were not asked', () => {
    const { platform, run } = testPlace();
    const texts: string[] = [];
    const survey = new WaitSurvey(platform.clock, [1, 2], (text) => texts.push(text));
    const answer = { count: 1, waits: [[7, 0, 0, '', 1000] as const] };
    for (const host of [1, 1, 3]) survey.onWaiting({ host, ...answer });
    assert.equal(texts, []);
    run(1000);
    survey.onWaiting({ host: 2, ...answer });
    assert.equal(texts, ['rank 7 waits in receive() since 1.0 s']);
  });

  test('no host, hosts that are lost, and a job that ends are not waited for', () => {
    const { platform, run } = testPlace();
    const texts: string[] = [];
    const surveyOf = (...hosts: number[]) => new WaitSurvey(platform.clock, hosts, (text) => texts.push(text));
    surveyOf();
    assert.equal(texts, ['']);
    const lost = surveyOf(1, 2);
    lost.onLost(2);
    lost.onLost(3);
    assert.is(texts.length, 1);
    lost.onWaiting({ host: 1, count: 1, waits: [[7, 0, 0, '', 1000]] });
    assert.is(texts[1], 'rank 7 waits in receive() since 1.0 s');
    const last = surveyOf(1);
    last.onLost(1);
    assert.is(texts.length, 3);
    surveyOf(1).close();
    run(2000);
    assert.is(texts.length, 3);
  });
});
