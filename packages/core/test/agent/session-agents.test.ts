/** The session agents of a host, at its root agent: what is passed to those that are there. */

import { StciError, sessionAddress, type Address, type JobId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { AgentNode } from '../../dist/agent/node.js';
import { SessionAgents, type SessionAgentsInit } from '../../dist/agent/session-agents.js';

/** Of host 2, with agents of the jobs that `linked` names. */
function play(linked: readonly JobId[]) {
  const sent: [job: JobId, name: string, body: unknown][] = [];
  const asked: [job: JobId, body: unknown, done: (error?: StciError) => void][] = [];
  const link = (agent: Address, job: JobId): unknown =>
    agent === sessionAddress(2) && linked.includes(job) ? {} : undefined;
  const node = {
    router: { link },
    messages: {
      sendNeighbour: (_link: unknown, name: string, body: unknown, job: JobId) => sent.push([job, name, body]),
      request: (_to: Address, _name: string, body: unknown, done: (error?: StciError) => void, { job }: {
        readonly job: JobId;
      }) => asked.push([job, body, done]),
    },
  } as unknown as AgentNode;
  const children = { release: () => undefined };
  const agentLauncher = { supervise: () => children, ready: () => undefined };
  const agents = new SessionAgents({
    node, agentLauncher, details: { host: 2, subtree: [] }, scope: {}, onFailed: () => undefined,
  } as unknown as SessionAgentsInit);
  for (const job of [1, 2, 3]) agents.onEnd({ kill: false, reason: 'r' } as never, job);
  sent.splice(0);
  return { agents, sent, asked };
}

suite('session agents of a host', (test) => {
  test('the tools of all jobs are ended at once where its agent is given up', () => {
    const { agents, sent } = play([1, 3]);
    agents.endJobs('given up');
    const end = { kill: true, reason: 'given up' };
    assert.equal(sent, [[1, 'job.end', end], [3, 'job.end', end]]);
  });

  test('SIGTERM from outside is told to all', () => {
    const { agents, sent } = play([2]);
    agents.onTerminated();
    assert.equal(sent, [[2, 'host.ending', {}]]);
  });

  test('a signal goes to the agents that are linked; done when all have answered, with the first that did not', () => {
    const { agents, asked } = play([1, 3]);
    const done: (string | undefined)[] = [];
    agents.signal('SIGSTOP', 100, (problem) => done.push(problem));
    assert.equal(asked.map(([job, body]) => [job, body]), [1, 3].map((job) => [job, { signal: 'SIGSTOP' }]));
    asked[0]?.[2](new StciError('STCI_REQUEST_TIMEOUT', 'too late'));
    assert.equal(done, []);
    asked[1]?.[2](new StciError('STCI_REQUEST_TIMEOUT', 'too late, too'));
    assert.equal(done, ['too late']);
    const none = play([]);
    none.agents.signal('SIGSTOP', 100, (problem) => done.push(problem));
    assert.equal([none.asked.length, done.at(-1), done.length], [0, undefined, 2]);
  });

  test('one that is closed hears nothing any more', () => {
    const { agents, sent } = play([1, 3]);
    agents.close(1);
    agents.endJobs('given up');
    assert.equal([sent.map(([job]) => job), [...agents.jobs]], [[3], [2, 3]]);
  });
});
