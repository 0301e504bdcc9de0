// @timeoutMs 240000
/** Hosts that are cut off or crash while a job runs: the rest ends within the lease, and the report names them. */

import { assert, suite } from '@stci/testkit';
import { FRONT_END, PLAIN, runJob, type RunHooks, type Step, type SwarmOptions } from '@stci/swarm';
import { range, share } from './first-seed.js';

const GRACE_MS = 300;
const LEASE_MS = 4000;
/** Ends of processes, their notices, last looks for daemons. */
const SLACK_MS = 2500;
/** From the cut to the end of what nobody reaches: silence, and two attempts of a third of the lease, or half of it. */
const LOST_MS = LEASE_MS * (1 + 2 / 3);
const AT_MS = 500;

interface Silence {
  readonly hosts: number;
  readonly arity: number;
  readonly faults: readonly Step[];
  readonly settings?: Readonly<Record<string, string>>;
}

function job({ hosts, arity, faults, settings = {} }: Silence) {
  const options: SwarmOptions = { ...PLAIN, hosts, remote: true, slots: 2, faults,
    apps: [{ program: 'fork', args: ['--wait', '60', 'sleep', '90'], count: 2 * hosts }],
    settings: { launcherproc: 'remote', 'launcher.tree.arity': String(arity), 'launcher.root.method': 'process',
      'tool.grace': `${GRACE_MS}ms`, 'bootcom.lease': `${LEASE_MS}ms`, ...settings } };
  const before: string[] = [];
  const left: string[] = [];
  const hooks: RunHooks = { onWorld: (world) => {
    const look = (into: string[]) => () => into.push(...world.livingProcesses()
      .filter(({ host }) => host !== 'login').map(({ host, command }) => `${host} ${command.join(' ')}`));
    world.at(AT_MS - 1, look(before));
    world.at(AT_MS + LOST_MS + GRACE_MS + SLACK_MS, look(left));
  } };
  const { run, problems } = runJob(options, hooks);
  const { report, reportMs = Infinity } = run.record;
  const lost = (report?.ranks ?? []).filter(({ outcome }) => outcome === 'lost').map(({ host }) => host);
  const named = (report?.failures ?? []).flatMap(({ host }) => host ?? []).sort();
  return { run, problems, before, left, report, reportMs, lost: [...new Set(lost)].sort(), named };
}

const crash = (host: number): Step => ({ kind: 'crash', atMs: AT_MS, victim: { kind: 'host', host } });
const cut = (host: number, durationMs?: number): Step => ({
  kind: 'part', atMs: AT_MS, victim: { kind: 'side', hosts: [host] }, ...(durationMs !== undefined && { durationMs }),
});

/** Whole jobs by the dozen, on a machine that may be busy. */
const WIDE = { timeoutMs: 60_000 };

suite('hosts that fall silent while a job runs', (test) => {
  for (const [hosts, arity] of [[1, 2], [3, 1], [7, 2], [13, 3], [40, 4]] as const) {
    for (const [name, fault] of [['cut', cut], ['crashed', crash]] as const) {
      test(`${hosts} hosts, arity ${arity}, one ${name}: nothing is left in time, and it is named`, () => {
        for (const host of share(range(0, hosts, hosts > 10 ? 6 : 1), 5)) {
          const done = job({ hosts, arity, faults: [fault(host)] });
          assert.equal(done.problems, []);
          assert.ok(done.before.length >= 5 * hosts, 'all ran before');
          assert.equal(done.left, [], `host ${host}`);
          assert.ok(done.reportMs <= AT_MS + LOST_MS + GRACE_MS + SLACK_MS, `${done.reportMs} ms`);
          assert.ok(done.lost.includes(`n${host}`) && done.named.includes(`n${host}`), done.named.join());
          assert.is.not(done.report?.exitCode, 0);
        }
      }, WIDE);
    }
  }

  test('several hosts at once, an inner one and leaves: all are named', () => {
    const done = job({ hosts: 15, arity: 2, faults: [cut(0), crash(5), cut(13)] });
    assert.equal([done.problems, done.left], [[], []]);
    for (const name of ['n0', 'n5', 'n13']) assert.ok(done.named.includes(name), `${name} of ${done.named.join()}`);
  }, WIDE);

  test('every host at once: the front-end ends with a report all the same', () => {
    const done = job({ hosts: 5, arity: 2, faults: [0, 1, 2, 3, 4].map((host) => cut(host)) });
    assert.equal([done.problems, done.left, done.lost.length], [[], [], 5]);
    assert.equal(done.named, ['n0', 'n1', 'n2', 'n3', 'n4']);
  }, WIDE);

  const variants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'agents linked over the network': { 'bootcom.boot': 'ws' },
    'session agents of their own': { 'launcher.session.method': 'process' },
    'no grace': { 'tool.grace': '0ms' },
  };
  for (const [what, settings] of Object.entries(variants)) {
    test(`with ${what}`, () => {
      for (const host of [0, 4]) {
        const done = job({ hosts: 7, arity: 2, faults: [cut(host)], settings });
        assert.equal([done.problems, done.left], [[], []]);
        assert.ok(done.named.includes(`n${host}`));
      }
    }, WIDE);
  }

  test('where the rest goes on, it does: only what was cut off ends', () => {
    const done = job({ hosts: 7, arity: 2, faults: [cut(6)], settings: { errmgr: 'continue' } });
    assert.equal(done.problems, []);
    assert.equal([done.lost, done.left.filter((line) => line.startsWith('n6 '))], [['n6'], []]);
    assert.ok(done.left.length >= 30, 'the others run');
  }, WIDE);

  test('a cut that is mended within half of the lease harms nobody', () => {
    const done = job({ hosts: 7, arity: 2, faults: [cut(0, LEASE_MS / 2)] });
    assert.equal([done.problems, done.lost, done.report?.exitCode], [[], [], 0]);
  }, WIDE);

  test('kill -9 of the front-end while a host is cut off', () => {
    const faults: Step[] = [cut(0), { kind: 'kill', victim: FRONT_END, atMs: AT_MS + 100 }];
    const done = job({ hosts: 7, arity: 2, faults });
    assert.equal([done.problems, done.left], [[], []]);
  }, WIDE);
});
