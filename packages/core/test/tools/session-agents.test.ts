/** The session agents of a host, at its root agent: what is passed to those that are there, and which are started. */

import { StciError, sessionAddress, type Address, type JobId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { decode } from '../../dist/codec/cbor.js';
import type { Launch } from '../../dist/messages/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import { SessionAgents, type SessionAgentsInit } from '../../dist/tools/session-agents.js';
import { testPlace } from '../world.js';

/** Of host 2, with agents of the jobs that `linked` names. */
function play(linked: readonly JobId[]) {
  const sent: [job: JobId, name: string, body: unknown][] = [];
  const asked: [job: JobId, body: unknown, done: (error?: StciError) => void][] = [];
  const link = (agent: Address, job: JobId): unknown =>
    agent === sessionAddress(2) && linked.includes(job) ? {} : undefined;
  const node = {
    platform: testPlace().platform,
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
  for (const job of [1, 2, 3]) agents.onEnd(job);
  sent.splice(0);
  return { agents, sent, asked };
}

const LOGIN = [2, 'c', '', 1];
const ERROR = new StciError('STCI_AGENT_LOST', 'gone');

/** Of host 2; `pauseMs`: before a lost one is started again, undefined: the controller decides. */
function starting(pauseMs?: number) {
  const place = testPlace();
  const log: string[] = [];
  const linked = new Set<JobId>();
  const decided: unknown[] = [];
  let events = {} as { onUp(agent: Address, job: JobId): void; onFailed(failure: unknown): void };
  const opening: (() => void)[] = [];
  let isOpen = true;
  const node = {
    platform: place.platform, params: { string: () => 'process' },
    router: { link: (_agent: Address, job: JobId) => (linked.has(job) ? {} : undefined) },
    messages: {
      sendNeighbour: (_link: unknown, name: string, { start }: { readonly start?: number }, job: JobId) =>
        log.push(`${name}${start === undefined ? '' : ` ${start}`} to job ${job}`),
    },
  } as unknown as AgentNode;
  const process = (job: JobId, start: number) => ({ kill: () => void log.push(`kill ${job}/${start}`) });
  const children = {
    relaunch: (spec: { job: JobId; incarnation: number; subtree: unknown; start(events: unknown): unknown }) => {
      log.push(`start ${spec.job}/${spec.incarnation}`);
      assert.equal(spec.subtree, [LOGIN]);
      spec.start({});
    },
    release: (_agent: Address, job: JobId, reason: string) => log.push(`release ${job}: ${reason}`),
    expel: (_agent: Address, reason: string, job: JobId) => log.push(`expel ${job}: ${reason}`),
    stop: (reason: string, done: () => void) => (log.push(`stop: ${reason}`), done()),
  };
  const agentLauncher = {
    supervise: (of: typeof events) => ((events = of), children),
    ready: (done: () => void) => (isOpen ? done() : void opening.push(done)),
    connection: () => ({ connect: ['x'] }),
    sessionSpec: ({ method }: { method: string }, job: JobId, incarnation: number, details: Uint8Array) => {
      assert.is(method, 'process');
      const { subtree } = decode(details) as { subtree: unknown };
      return { job, incarnation, subtree, start: () => process(job, incarnation) };
    },
  };
  const local = (found: { kind: string; host: number }, { of, attempt }: { of: string; attempt: number }) => {
    decided.push([found.kind, found.host, of, attempt]);
    return pauseMs === undefined ? { type: 'report' } : { type: 'restart', afterMs: pauseMs };
  };
  const agents = new SessionAgents({
    node, agentLauncher, details: { host: 2, subtree: [LOGIN, [3, 'd', '', 1]] },
    scope: { jobParams: (params: unknown) => params, errorManager: () => ({ local }) },
    onFailed: ({ job }: { job: JobId }, { launch, isReplaced }: { launch: number; isReplaced: boolean }) =>
      log.push(`lost ${job} launch ${launch}${isReplaced ? ' replaced' : ''}`),
  } as unknown as SessionAgentsInit);
  const told = (): string[] => log.splice(0);
  return {
    agents, told, decided,
    launch: (job: JobId, start?: number) => (agents.onLaunch({ start, params: {} } as unknown as Launch, job), told()),
    up: (job: JobId) => (linked.add(job), events.onUp(sessionAddress(2), job), told()),
    lost: (job: JobId) => (linked.delete(job), events.onFailed({ job, error: ERROR }), told()),
    run: (ms: number) => (place.run(ms), told()),
    shut: () => void (isOpen = false),
    open: () => ((isOpen = true), opening.splice(0).forEach((done) => done()), told()),
    isQuiet: () => place.world.scheduler.queue.pending().length === 0,
  };
}

suite('starts of session agents', (test) => {
  test('a launch starts the agent of its job, which is told it when it is up, also where an end came first', () => {
    const { agents, launch, up, told } = starting();
    assert.equal([launch(1), up(1)], [['start 1/1'], ['job.launch to job 1']]);
    agents.onEnd(2);
    assert.equal([launch(2), up(2)], [['start 2/1'], ['job.launch to job 2']]);
    agents.onEnd(1);
    assert.equal(told(), [], 'the broadcast itself reaches it');
  });

  test('the same launch, or one before it, does not start it again; a later one does', () => {
    const { launch } = starting();
    assert.equal([launch(1), launch(1), launch(1, 1), launch(1, 3)], [['start 1/1'], [], [], ['start 1/2']]);
    assert.equal([launch(1, 3), launch(1, 2), launch(2, 3)], [[], [], ['start 2/1']]);
  });

  test('one whose job is closed before it could be started is not started', () => {
    const { agents, launch, shut, open, told, up } = starting();
    shut();
    launch(1);
    launch(2);
    agents.close(1);
    assert.equal(told(), ['release 1: the job is over']);
    agents.onEnd(1); // It comes late.
    assert.equal(open(), ['start 2/1']);
    assert.equal(up(2), ['job.launch to job 2']);
  });

  test('one that is lost is reported, with its launch; the controller decides about another', () => {
    const { launch, up, lost, run, decided, isQuiet } = starting();
    launch(1, 4);
    up(1);
    assert.equal(lost(1), ['lost 1 launch 4']);
    assert.equal(decided, [['session-lost', 2, 'agent', 1]]);
    assert.equal([run(60_000), isQuiet()], [[], true]);
    assert.equal([launch(1, 5), up(1)], [['start 1/2'], ['job.launch 5 to job 1']]);
    assert.equal([launch(2), lost(2)], [['start 2/1'], ['lost 2 launch 1']], 'a first launch has number 1');
  });

  test('another is started at once, waits for the next launch, and is told that alone', () => {
    const { launch, up, lost, decided } = starting(0);
    launch(1);
    up(1);
    assert.equal(lost(1), ['lost 1 launch 1 replaced', 'start 1/2']);
    assert.equal([up(1), launch(1, 1)], [[], []], 'not the former launch');
    assert.equal(launch(1, 2), ['job.launch 2 to job 1'], 'it is not started anew');
    assert.equal(lost(1), ['lost 1 launch 2 replaced', 'start 1/3']);
    assert.equal(lost(1), ['lost 1 launch 0 replaced', 'start 1/4'], 'this one had no launch');
    assert.equal(decided.map((each) => (each as unknown[])[3]), [1, 2, 3]);
  });

  test('a launch during the pause starts it at once, once; one that comes up later is told', () => {
    const { launch, up, lost, run, isQuiet } = starting(500);
    launch(1);
    up(1);
    assert.equal(lost(1), ['lost 1 launch 1 replaced']);
    assert.equal(run(499), []);
    assert.equal(launch(1, 2), ['start 1/2']);
    assert.equal([isQuiet(), run(60_000), up(1)], [true, [], ['job.launch 2 to job 1']]);
    lost(1);
    assert.equal([run(499), run(1)], [[], ['start 1/3']]);
    assert.equal([launch(1, 3), up(1)], [[], ['job.launch 3 to job 1']]);
  });

  test('none is started again for a job that ends, is closed or was never launched, nor while this agent stops', () => {
    const ended = starting(0);
    ended.launch(1);
    ended.agents.onEnd(1);
    assert.equal(ended.lost(1), ['lost 1 launch 1']);
    assert.equal(ended.lost(7), ['lost 7 launch 0'], 'of no job here');
    const closed = starting(500);
    closed.launch(1);
    closed.lost(1);
    closed.agents.close(1);
    assert.equal([closed.isQuiet(), closed.run(1000)], [true, ['release 1: the job is over']]);
    const stopping = starting(500);
    for (const job of [1, 2]) stopping.launch(job);
    stopping.lost(1);
    const done: string[] = [];
    stopping.agents.stop('over', () => done.push('done'));
    assert.equal([stopping.told(), done, stopping.isQuiet()], [['stop: over'], ['done'], true]);
    assert.equal(stopping.lost(2), ['lost 2 launch 1']);
    stopping.agents.close(2);
    assert.equal(stopping.run(1000), [], 'all are ended anyway');
    const unlaunched = starting(0);
    unlaunched.agents.onEnd(1);
    assert.equal(unlaunched.lost(1), ['lost 1 launch 1']);
  });

  test('the process of one job\'s agent is killed, or those of all; what does not run cannot be', () => {
    const { agents, launch, told } = starting();
    const problem = 'no session agent runs on this host';
    assert.equal([agents.kill(), agents.kill(1)], [problem, problem]);
    for (const job of [1, 2]) launch(job);
    assert.equal([agents.kill(2), told()], [undefined, ['kill 2/1']]);
    assert.equal([agents.kill(3), told()], [problem, []]);
    agents.onEnd(4);
    assert.equal([agents.kill(), told()], [undefined, ['kill 1/1', 'kill 2/1']]);
  });

  test('the link to one that sent malformed data is closed, with the reason', () => {
    const { agents, told } = starting();
    agents.expel('it sent nonsense', 3);
    assert.equal(told(), ['expel 3: it sent nonsense']);
  });
});

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
