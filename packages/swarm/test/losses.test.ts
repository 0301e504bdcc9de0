// @timeoutMs 240000
/** Hosts of a session that are lost, and what the error manager does about them: started again, replaced, left out. */

import type { HostStatus } from '@stci/core/session';
import type { JobEvent } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { PLAIN, refuseLogin, runHosts, type EndedJob, type HostsOptions, type HostsSession } from '@stci/swarm';

const HOSTS = 7;

const optionsOf = (more: Partial<HostsOptions> & { readonly loss: string }): HostsOptions => {
  const settings = { 'launcher.tree.arity': '2', 'bootcom.lease': '4s', 'errmgr.loss': more.loss, ...more.settings };
  return { seed: 1, hosts: HOSTS, hostsMax: HOSTS + 4, ...more, settings };
};

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const names = (hosts: readonly number[]): string[] => hosts.map((host) => `n${host}`).sort();
const stateOf = ({ spec, state, incarnation }: HostStatus): string => `${spec.name} ${state} ${incarnation}`;

/** What was done about hosts. */
const actions = ({ events }: HostsSession): string[] => events.flatMap((event) => {
  if (event.type !== 'recovery') return event.type === 'host-up' && event.up === event.total ? ['up'] : [];
  const { phase, name, action, starts, afterMs, spare, reason } = event;
  return [[phase, name, action, starts, afterMs, spare, reason].filter((part) => part !== undefined).join(' ')];
});

interface Outcome {
  readonly actions: readonly string[];
  /** Of the hosts that were lost. */
  readonly states: readonly string[];
  readonly evidence: string;
  readonly spares: number;
  /** Hosts of a job with a rank on each. */
  readonly places: readonly string[];
}

/** Kills agents, waits until there is nothing more to do, and runs a job on all hosts that are left. */
function loseThenRun(options: HostsOptions, lost: readonly number[], waitMs: number): Outcome {
  let outcome: Outcome | undefined;
  let end: EndedJob | undefined;
  const problems = runHosts(options, (one) => {
    // By then they know that their session stays.
    one.clock.after(1000, () => lost.forEach((host) => one.kill(host)));
    one.clock.after(1000 + waitMs, () => one.submit(['hostname'], {}, (job) => {
      end = job;
      const { hosts, spares } = one.session;
      const found = lost.map((host) => hosts[host] as HostStatus);
      outcome = {
        actions: actions(one), states: found.map(stateOf), evidence: found[0]?.evidence ?? '', spares: spares.length,
        places: job.out.map((text) => text.trim()).sort(),
      };
      one.stop();
    }));
  });
  assert.equal([problems, end?.report.exitCode, end?.report.failures], [[], 0, []]);
  return outcome as Outcome;
}

suite('lost hosts of a session', (test) => {
  test('leave-out, the default: later jobs do without them, and the session says so once', () => {
    const { states, actions, places } = loseThenRun(optionsOf({ loss: 'leave-out' }), [2, 3], 20_000);
    assert.equal(states, ['n2 failed 1', 'n3 failed 1']);
    assert.equal([...actions].sort(), ['idle n2 leave-out', 'idle n3 leave-out', 'up']);
    assert.equal(places, names([0, 1, 4, 5, 6]));
  });

  test('start-again: each, also an inner one, is back for the next job', () => {
    for (const host of upTo(HOSTS)) {
      const found = loseThenRun(optionsOf({ loss: 'start-again', seed: host }), [host], 20_000);
      assert.equal(found.states, [`n${host} up 2`]);
      assert.equal(found.actions, ['up', `idle n${host} start-again 2 1000`, 'up']);
      assert.equal(found.places, names(upTo(HOSTS)));
    }
  }, { timeoutMs: 30_000 });

  test('start-again: all at once', () => {
    const { states, places } = loseThenRun(optionsOf({ loss: 'start-again' }), upTo(HOSTS), 30_000);
    assert.equal(states.map((state) => state.split(' ')[1]), Array(HOSTS).fill('up'));
    assert.equal(places, names(upTo(HOSTS)));
  });

  test('start-again: a host that is back later is used again; one that is not is left out', () => {
    const settings = { 'errmgr.loss.retries': '3', 'errmgr.loss.pause': '500ms' };
    const of = (starts: number): HostsOptions =>
      optionsOf({ loss: 'start-again', settings, faults: [refuseLogin(2, starts, { start: 2 })] });
    const tried = [2, 3, 4].map((start, i) => `idle n2 start-again ${start} ${500 * 2 ** i}`);
    const back = loseThenRun(of(2), [2], 60_000);
    assert.equal([back.states, back.places], [['n2 up 4'], names(upTo(HOSTS))]);
    assert.equal(back.actions, ['up', ...tried, 'up']);
    const gone = loseThenRun(of(100), [2], 60_000);
    assert.equal([gone.states, gone.places], [['n2 failed 4'], names([0, 1, 3, 4, 5, 6])]);
    const last = 'idle n2 leave-out its agent was started 3 more times (errmgr.loss.retries)';
    assert.equal(gone.actions, ['up', ...tried, last]);
    assert.match(gone.evidence, 'refused');
  });

  test('use-spare: it takes the index, and the next where it does not come up', () => {
    const options = optionsOf({ loss: 'use-spare', spares: 2, faults: [refuseLogin(7, 9)] });
    const { states, places, actions, spares } = loseThenRun(options, [2], 60_000);
    assert.equal([states, places, spares], [['n8 up 3'], names([0, 1, 3, 4, 5, 6, 8]), 0]);
    assert.equal(actions, ['up', 'idle n2 use-spare n7', 'idle n7 use-spare n8', 'up']);
  });

  test('the ranks of a job that runs stay lost, and its other ranks go on; its front-end is told', () => {
    let [end, done]: [EndedJob | undefined, string[]] = [undefined, []];
    const problems = runHosts(optionsOf({ loss: 'start-again' }), (one) => {
      one.clock.after(500, () => one.kill(2));
      one.submit(['lines', '300', '60', '0.02'], {}, (job) => {
        [end, done] = [job, actions(one)];
        one.stop();
      });
    });
    assert.equal(problems, []);
    const { report, out } = end as unknown as EndedJob;
    assert.equal(report.ranks.filter(({ outcome }) => outcome === 'lost').map(({ host }) => host), ['n2']);
    assert.ok(out.every((text, rank) => rank === 2 || text.length === 60 * 300), 'all output');
    assert.equal(done, ['up', 'running n2 start-again 2 1000', 'up']);
  });

  test('a session that stops while a host waits for its start, or is being started, leaves nothing', () => {
    for (const waitMs of [200, 990, 1001, 1005, 1010, 1020, 1050]) {
      const problems = runHosts(optionsOf({ loss: 'start-again', seed: waitMs }), (one) => {
        one.clock.after(1000, () => one.kill(6));
        const poll = (): void => {
          if (actions(one).length < 2) one.clock.after(1, poll);
          else one.clock.after(waitMs, () => one.stop());
        };
        poll();
      });
      assert.equal(problems, [], `${waitMs} ms`);
    }
  });

  test('a host that is removed while it waits for its start, or is being started, is not started again', () => {
    for (const pause of ['0', '300ms']) {
      for (const waitMs of [0, 1, 5, 20, 100, 290, 305, 310]) {
        let left: HostStatus | undefined;
        const settings = { 'errmgr.loss.pause': pause };
        const faults = [refuseLogin(6, 9, { start: 2, isSilent: true })];
        const problems = runHosts(optionsOf({ loss: 'start-again', settings, faults }), (one) => {
          one.clock.after(1000, () => one.kill(6));
          const poll = (): void => {
            if (actions(one).length < 2) return void one.clock.after(1, poll);
            one.clock.after(waitMs, () => one.remove([6], { force: false }, (outcomes) => {
              assert.equal(outcomes, [{ name: 'n6', error: undefined }]);
              one.clock.after(30_000, () => {
                left = one.session.hosts[6];
                one.stop();
              });
            }));
          };
          poll();
        });
        assert.equal([problems, left?.state, left?.isDraining], [[], 'left', false], `${pause} ${waitMs} ms`);
      }
    }
  }, { timeoutMs: 30_000 });
});

interface Deaths {
  readonly hosts: readonly [number, number];
  readonly gapMs: number;
  /** The detector suspects a host before others have found that they cannot reach it. */
  readonly isQuick?: boolean;
}

/** Of a job that ends because an agent is killed, and then one above or below it: what it is told. */
function killTwo(seed: number, { hosts: [first, then], gapMs, isQuick = false }: Deaths) {
  const events: JobEvent[] = [];
  const quick = { 'detector.ring.period': '20ms', 'detector.ring.timeout': '60ms', 'detector.latency': '20ms' };
  const settings = {
    'launcher.tree.arity': '2', 'bootcom.lease': '4s', detector: 'ring', ...(isQuick && quick),
  };
  const link = isQuick ? { ...PLAIN.link, latencyMs: 5 } : PLAIN.link;
  const problems = runHosts({ seed, hosts: HOSTS, hostsMax: HOSTS, settings, link }, (one) => {
    const onEvent = (event: JobEvent): void => void events.push(event);
    one.submit(['sleep', '100'], { params: { errmgr: ['abort'] }, onEvent }, () => one.stop());
    one.clock.after(3000, () => one.kill(first));
    one.clock.after(3000 + gapMs, () => one.kill(then));
  });
  assert.equal(problems, []);
  const told = events.flatMap((event) => event.type === 'failure' && event.isRecorded ? [event.error.host ?? '?'] : []);
  const recorded = events.flatMap((event) => event.type === 'failure-record' && event.record.subject.kind === 'host'
    ? [event.record.hostName] : []);
  return { told: told.sort(), recorded: recorded.sort() };
}

suite('records of failures, at the end of a job', (test) => {
  const rows: readonly (readonly [string, Deaths])[] = [
    ['both at once', { hosts: [0, 2], gapMs: 0 }],
    ['while the second is still being asked', { hosts: [2, 6], gapMs: 0, isQuick: true }],
    ['the second when its ranks have ended', { hosts: [2, 0], gapMs: 5 }],
  ];
  for (const [what, deaths] of rows) {
    test(`${what}: 10 of 10 jobs have the record of each failure that says so`, () => {
      const runs = upTo(10).map((seed) => killTwo(seed + 1, deaths));
      assert.equal(runs.map(({ recorded }) => recorded), runs.map(({ told }) => told));
      // A job may be over before the second dies.
      assert.ok(runs.filter(({ told }) => told.length === 2).length >= 5, JSON.stringify(runs));
    }, { timeoutMs: 30_000 });
  }
});
