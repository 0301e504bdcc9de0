/** What the error manager decides is told with the record of its failure, which the end of the job names. */

import { assert, suite } from '@stci/testkit';
import { open } from '../agent/open-session.js';

suite('records of decisions', (test) => {
  test('of a rank that fails: what is decided, by whom, and the failure for which the job ends', () => {
    const { begin, until, end } = open({ errmgr: 'abort' });
    const job = begin(1, ['exit', '3']);
    until(() => job.report !== undefined, 'its end');
    const told = job.events.flatMap((event) => {
      if (event.type === 'failure-record') return [[event.record.failure, event.record.policy.join()]];
      return event.type === 'ending' ? [['ending', event.failure]] : [];
    });
    assert.equal(told, [['ending', 'tool 1 0#1'], ['tool 1 0#1', 'abort: the job is ended']]);
    assert.is(job.report?.cause?.failure, 'tool 1 0#1');
    end();
  });
});
