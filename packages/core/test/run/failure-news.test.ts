/** News of failures: each is told once, by its id, in memory that has a bound. */

import { failureId, type ErrorRecord } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { FailureNews } from '../../dist/run/failure-news.js';

function play() {
  const said: string[] = [];
  const news = new FailureNews({
    verbose: false, toleratesFailures: true, say: (text) => said.push(text), logStep: () => undefined,
  });
  const errorOf = (rank: number, attempt: number, message = 'it has failed'): ErrorRecord => (
    { code: 'STCI_TOOL_STATUS', message, rank, failure: failureId({ kind: 'tool', host: 0, job: 1, rank, attempt }) });
  const fail = (error: ErrorRecord): void => news.onFailure({ type: 'failure', error }, false);
  return { news, said, errorOf, fail };
}

suite('news of failures', (test) => {
  test('the end of a job tells of the failure whose id it has, whatever others say', () => {
    const { news, said, errorOf, fail } = play();
    const [told, other] = [errorOf(0, 1), errorOf(0, 2)];
    fail(told);
    const endOf = ({ message: reason, failure }: ErrorRecord) => ({ type: 'ending', reason, failure }) as never;
    assert.equal([news.hasTold(endOf(told)), news.hasTold(endOf(other))], [true, false]);
    news.last = other;
    news.onStall(endOf(told));
    assert.equal(said, ['it has failed']);
    news.onStall(endOf(other));
    assert.equal(said, ['it has failed', 'it has failed']);
    news.onStall(endOf(other));
    assert.is(said.length, 2);
  });

  test('of many failures the latest are remembered', () => {
    const { news, said, errorOf, fail } = play();
    for (let rank = 0; rank < 10_000; rank++) fail(errorOf(rank, 1, `rank ${rank}`));
    assert.equal([said.length, said[0], said[1], news.reported.size], [10_000, 'rank 0', 'also: rank 1', 4096]);
  });

  test('what is the same of several ranks is said once; of a host that fails anew, each time', () => {
    const { said, errorOf, fail } = play();
    for (const rank of [0, 1, 2]) fail(errorOf(rank, 1, 'no such program'));
    const lost = (incarnation: number): ErrorRecord => ({
      code: 'STCI_AGENT_LOST', message: 'host c is lost', host: 'c',
      failure: failureId({ kind: 'host', host: 2, incarnation }),
    });
    for (const incarnation of [1, 1, 2]) fail(lost(incarnation));
    assert.equal(said, ['no such program', 'also: host c is lost', 'also: host c is lost']);
  });
});
