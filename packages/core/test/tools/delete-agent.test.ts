/** Sets of agents by address and job: who is taken out when an agent was replaced. */

import { JOB_MAX, agentKey, rootAddress, sessionAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { deleteAgent } from '../../dist/node/peer-guard.js';

suite('sets of agents', (test) => {
  const [here, next] = [sessionAddress(3), sessionAddress(4)];
  const all = [[here, 0], [here, 7], [here, JOB_MAX], [next, 0], [rootAddress(3), 0]]
    .map(([agent, job]) => agentKey(agent as number, job as number));

  test('without a job, the session agents of every job with that address, and no other', () => {
    const keys = new Set(all);
    deleteAgent(keys, here);
    assert.equal([...keys], all.slice(3));
  });

  test('with a job, that of this job alone', () => {
    const keys = new Set(all);
    deleteAgent(keys, here, 7);
    assert.equal([...keys], all.filter((key) => key !== agentKey(here, 7)));
  });
});
