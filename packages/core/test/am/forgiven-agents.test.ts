/** Whose messages a guard takes again, when an agent was replaced. */

import { JOB_MAX, StciError, rootAddress, sessionAddress, type Address, type JobId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { Link } from '../../dist/bootcom/link.js';
import type { AgentNode } from '../../dist/node/node.js';
import { LinkGuard } from '../../dist/node/peer-guard.js';

const [HERE, NEXT] = [sessionAddress(3), sessionAddress(4)];
const ALL = [[HERE, 0], [HERE, 7], [HERE, JOB_MAX], [NEXT, 0], [rootAddress(3), 0]] as const;

/** Those that are reported once more, since they were forgiven. */
function again(job?: JobId): readonly (readonly [Address, JobId])[] {
  const reported: (readonly [Address, JobId])[] = [];
  const node = { messages: { received: { drop: () => undefined } } } as unknown as AgentNode;
  const guard = new LinkGuard(node, (agent, _error, of) => reported.push([agent, of]));
  const link = { peer: rootAddress(9), role: 'child' } as Link;
  const hear = (): void => {
    for (const [agent, of] of ALL) guard.onMalformed(agent, of, link, new StciError('STCI_MESSAGE_INVALID', 'x'));
  };
  hear();
  hear();
  assert.equal(reported.splice(0), ALL, 'each once');
  guard.forgive(HERE, job);
  hear();
  return reported;
}

suite('forgiven agents', (test) => {
  test('without a job, the session agents of every job with that address, and no other', () => {
    assert.equal(again(), ALL.slice(0, 3));
  });

  test('with a job, that of this job alone', () => {
    assert.equal(again(7), [[HERE, 7]]);
  });
});
