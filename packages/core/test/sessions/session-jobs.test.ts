/** The jobs of a session that stays: those that wait for slots, and its end. */

import { StciError, type FrontEndEvents, type JobEvent, type JobReport, type JobSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { SessionObserver } from '../../dist/controller/controller-contracts.js';
import type { JobFrontEnd } from '../../dist/controller/session.js';
import { Scope } from '../../dist/event/scope.js';
import { SessionJobs, type OpenedSession } from '../../dist/sessions/session-jobs.js';
import { testPlace } from '../world.js';

const SPEC = { apps: [{ count: 1 }], oversubscribe: false, stdin: { to: 'none' } } as unknown as JobSpec;
const BUSY = { code: 'STCI_SLOTS_EXCEEDED', message: 'no slot is free', data: { busy: true } };

interface Agent {
  readonly events: FrontEndEvents;
  isStopped: boolean;
  readonly verbs: string[];
}

/** A session with one slot, which its controller gives to the job that asks first; `isSlow`: it answers later. */
function play(isSlow = false) {
  const place = testPlace();
  const agents: Agent[] = [];
  const told: string[] = [];
  let stops = 0;
  let observer: SessionObserver | undefined;
  let taken = 0;
  const session = {
    holds: new Scope('session'),
    hosts: [{ host: 0, state: 'up', spec: { slotsBound: true } }], spares: [], continues: false, launcher: 'local',
    open: () => void told.push('opened'),
    follow: (events: FrontEndEvents): JobFrontEnd => {
      const agent: Agent = { events, isStopped: false, verbs: [] };
      const job = agents.push(agent);
      return {
        job,
        submit: () => {
          if (isSlow) return;
          if (taken > 0) return events.onJobEvent({ type: 'ended', report: report(job, BUSY) });
          taken += 1;
          events.onJobEvent({ type: 'mapped', map: { size: 1, hosts: [] } as never });
        },
        control: ({ verb }: { verb: string }) => agent.verbs.push(verb),
        stop: () => (agent.isStopped = true),
      } as unknown as JobFrontEnd;
    },
    stop: (done: () => void) => ((stops += 1), done()),
  } as unknown as OpenedSession;
  const jobs = new SessionJobs({
    name: 's', version: '1', clock: place.platform.clock, spoolBytesMax: 1 << 20,
    session: (given) => ((observer = given), session),
    onStep: (text) => void told.push(text), onReady: (up) => void told.push(`${up} up`),
    onAborted: ({ message }) => void told.push(`aborted: ${message}`),
    onEnding: ({ message }) => void told.push(`ending: ${message}`),
    spoolFiles: () => ({ next: () => assert.unreachable('no file') as never, remove: () => undefined }),
    onStopped: () => told.push('stopped'),
  });
  const submit = (label: string, wait = true): (() => void) => jobs.submit(SPEC, { wait, label }, {
    onAccepted: ({ job }) => told.push(`${label} is job ${job}`),
    onRefused: ({ code }) => told.push(`${label}: ${code}`),
    onWaiting: (reason) => told.push(`${label} waits: ${reason}`),
  });
  const end = (job: number): void => {
    taken -= 1;
    agents[job - 1]?.events.onJobEvent({ type: 'ended', report: report(job) });
  };
  const states = (): string[] => jobs.status().jobs.map(({ label, state }) => `${label} ${state}`);
  assert.equal(told.splice(0), ['opened']);
  const seen = observer as unknown as SessionObserver;
  return { ...place, jobs, seen, agents, told, submit, end, states, stops: () => stops };
}

function report(job: number, cause?: { code: string; message: string; data: object }): JobReport {
  return {
    job, exitCode: cause === undefined ? 0 : 1, failures: [], ranks: [], daemons: [], submitWallMs: 0, endWallMs: 0,
    ...(cause && { cause }),
  } as JobReport;
}

suite('jobs of a session, at the session', (test) => {
  test('one that finds no slot waits, which is told with the reason, and is started when there is one', () => {
    const { told, submit, end, states, agents } = play();
    submit('a');
    submit('b');
    submit('c');
    const [, , third = ''] = told;
    assert.equal(told.splice(0, 2), ['a is job 1', 'b waits: no slot is free']);
    assert.match(third, /^c waits: Other jobs wait for slots before it\./);
    told.length = 0;
    assert.equal(states(), ['a starting', 'b waiting', 'c waiting']);
    end(1);
    assert.equal([told.splice(0), agents[0]?.isStopped], [['b is job 3'], true]);
    end(3);
    assert.equal(told.map((text) => text.replace(/\d+/, 'n')), ['c is job n']);
  });

  test('what is done about its hosts is told; those that wait try again once all are up', () => {
    const { seen, told, submit, agents } = play();
    const error = { code: 'STCI_AGENT_LOST', message: 'gone' } as const;
    seen.onEvent({ type: 'host-up', host: 0, name: 'h', up: 1, total: 1, incarnation: 1 });
    seen.onReady();
    seen.onEvent({ type: 'host-up', host: 0, name: 'h', up: 1, total: 1, incarnation: 2 });
    seen.onEvent({ type: 'warning', text: 'w' });
    assert.equal(told.splice(0), ['1 up', 'host h is up', 'w']);
    submit('a');
    submit('b');
    told.length = 0;
    seen.onRoom();
    seen.onEvent({ type: 'recovery', phase: 'idle', host: 0, name: 'h', action: 'leave-out', error });
    assert.equal([agents.length, told.length, told[0]?.endsWith(': gone')], [4, 1, true]);
  });

  test('hosts that do not come up end it, a batch system that takes them does when its jobs have ended', () => {
    const { seen, told, stops } = play();
    const failure = (message: string) => ({ error: { code: 'STCI_AGENT_LOST', message } }) as never;
    seen.onAborted([failure('a'), failure('b'), failure('b')]);
    assert.equal([told, stops()], [['aborted: a\nalso: b', 'stopped'], 1]);
    const taken = play();
    taken.submit('a');
    taken.seen.onEnding(new StciError('STCI_ALLOCATION_ENDED', 'CANCELLED'));
    assert.equal([taken.told, taken.agents[0]?.verbs], [['a is job 1', 'ending: CANCELLED'], []]);
    taken.end(1);
    assert.equal([taken.told.at(-1), taken.stops()], ['stopped', 1]);
  });

  test('one that does not wait is refused, at once or behind those that do; who leaves waits no more', () => {
    const { told, submit, end } = play();
    submit('a');
    submit('b', false);
    const leave = submit('c');
    submit('d', false);
    leave();
    assert.equal(told.filter((text) => !text.includes('waits')), [
      'a is job 1', 'b: STCI_SLOTS_EXCEEDED', 'd: STCI_SLOTS_EXCEEDED',
    ]);
    end(1);
    assert.is(told.some((text) => text.startsWith('c is')), false);
  });

  test('jobs that ended are kept; one that never was and one that is forgotten are told apart', () => {
    const { jobs, submit, end, states } = play();
    for (let job = 1; job <= 3; job += 1) {
      submit(`j${job}`);
      end(job);
    }
    assert.equal(states(), ['j1 ended', 'j2 ended', 'j3 ended']);
    assert.is(jobs.job(2).job, 2);
    assert.throws(() => jobs.job(4), /never had a job 4/);
    for (let job = 4; job <= 70; job += 1) {
      submit(`j${job}`);
      end(job);
    }
    assert.equal([states().length, states()[0]], [64, 'j7 ended']);
    assert.throws(() => jobs.job(6), /has forgotten job 6; the last 64 that ended are kept/);
  });

  test('stopped while a job is on its way: the session ends when that is answered, and has ended', () => {
    const MAPPED = { type: 'mapped', map: { size: 1, hosts: [] } } as unknown as JobEvent;
    const ENDED = (job: number, cause?: typeof BUSY): JobEvent => ({ type: 'ended', report: report(job, cause) });
    const taken = play(true);
    taken.submit('a');
    taken.jobs.stop();
    taken.jobs.stop();
    assert.equal([taken.told, taken.stops()], [[], 0]);
    taken.agents[0]?.events.onJobEvent(MAPPED);
    assert.equal([taken.told, taken.agents[0]?.verbs, taken.stops()], [['a is job 1'], ['end'], 0]);
    taken.agents[0]?.events.onJobEvent(ENDED(1));
    assert.equal([taken.told, taken.stops()], [['a is job 1', 'stopped'], 1]);
    const refused = play(true);
    refused.submit('a');
    refused.jobs.stop();
    refused.agents[0]?.events.onJobEvent(ENDED(1, BUSY));
    assert.equal([refused.told, refused.stops()], [['a: STCI_SLOTS_EXCEEDED', 'stopped'], 1]);
  });

  test('stopped after its jobs: those that wait are refused, those that run end by themselves', () => {
    const { jobs, told, submit, end, agents, stops } = play();
    submit('a');
    submit('b');
    jobs.stopAfterJobs();
    assert.equal([told.at(-1), agents[0]?.verbs, stops()], ['b: STCI_SESSION_REFUSED', [], 0]);
    assert.throws(() => submit('c'), (error) => (error as StciError).code === 'STCI_SESSION_REFUSED');
    assert.equal([jobs.status().isStopping, jobs.status().jobs.length], [true, 1]);
    end(1);
    assert.equal([told.at(-1), stops()], ['stopped', 1]);
  });

  test('stopped: those that run are ended; at once where none does, and once', () => {
    const { jobs, told, submit, end, agents, stops } = play();
    submit('a');
    jobs.stop();
    jobs.stop();
    assert.equal([agents[0]?.verbs, stops()], [['end'], 0]);
    end(1);
    assert.equal([told.at(-1), stops()], ['stopped', 1]);
    const other = play();
    other.jobs.stop();
    assert.equal([other.told, other.stops()], [['stopped'], 1]);
  });
});
