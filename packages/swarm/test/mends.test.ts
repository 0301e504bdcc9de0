// @timeoutMs 240000
/** The tree mends: agents and connections are killed while a job runs, and only the hosts that were hit lose ranks. */

import { assert, suite } from '@stci/testkit';
import { PLAIN, rootAgent, runJob, type RunOutcome, type Step, type SwarmOptions } from '@stci/swarm';
import { range, share } from './first-seed.js';

/** Frames for each host and fault beyond those of an undisturbed run: attempts, resends, reports, acknowledgements. */
const FRAMES_MAX = 60;

/** Long enough that faults come while it writes. */
const LINES = 100;

function optionsOf(over: Partial<SwarmOptions> & { readonly arity: number }): SwarmOptions {
  const { arity, settings, hosts = 12, ...rest } = over;
  const apps = [{ program: 'lines', args: [String(LINES), '60', '0.02'], count: hosts }];
  const tree = { launcherproc: 'remote', errmgr: 'continue', 'launcher.tree.arity': String(arity) };
  return { ...PLAIN, hosts, remote: true, apps, settings: { ...tree, ...settings }, ...rest };
}

/** Hosts whose agent was killed, as against a login that carried a link. */
function killedHosts({ run }: RunOutcome): string[] {
  const agents = run.faults.map(({ target }) => /^(n\d+)\/\d+ stci-agent/.exec(target)?.[1] ?? '');
  return [...new Set(agents.filter((name) => name !== ''))].sort();
}

/** Checks that each rank's fate is that of its host, and that the output of those that live is whole. */
function assertMended(done: RunOutcome, note: string): void {
  assert.equal(done.problems, [], note);
  const { report, streams } = done.run.record;
  const killed = killedHosts(done);
  const lost = (report?.ranks ?? []).filter(({ outcome }) => outcome !== 'exited').map(({ host }) => host).sort();
  assert.equal(lost, killed.filter((host) => lost.includes(host)), `${note}: only on hosts whose agent was killed`);
  const named = (report?.failures ?? []).map(({ host }) => host ?? '').sort();
  assert.equal(named, killed.filter((host) => named.includes(host)), `${note}: each is named once, and no other`);
  for (const { rank, host, end } of report?.ranks ?? []) {
    if (lost.includes(host)) continue;
    assert.is(end?.status, 0);
    const bytes = streams.get(`${rank}/stdout`)?.bytes;
    if (!killed.includes(host)) assert.is(bytes, 60 * LINES, `${note}: rank ${rank}`);
  }
}

/** The agent of one host, so long after its start. */
const killOf = (host: number, atMs: number): Step => ({ kind: 'kill', victim: rootAgent(host), start: 1, atMs });

const kill = (atMs: number, pick: number): Step => ({ kind: 'kill', victim: { of: 'agents', pick }, atMs });

suite('the tree mends', (test) => {
  test('an agent or a connection killed at any place: all others go on', () => {
    for (const pick of share(range(0.01, 1, 0.04), 6)) {
      assertMended(runJob(optionsOf({ arity: 8, faults: [kill(700, pick)] })), `pick ${pick}`);
    }
  }, { timeoutMs: 60_000 });

  test('killed at any moment of the run', () => {
    for (const atMs of share(range(40, 2040, 100), 6)) {
      assertMended(runJob(optionsOf({ arity: 2, faults: [kill(atMs, (atMs * 0.37) % 1)] })), `at ${atMs}`);
    }
  }, { timeoutMs: 60_000 });

  test('several at once, neighbours and the agent that mends among them', () => {
    for (const seed of share(range(1, 21), 6)) {
      const pick = (i: number): number => (seed * 0.618 + i * 0.21) % 1;
      const faults = Array.from({ length: 2 + (seed % 4) }, (_, i) => kill(600 + i * (seed % 3), pick(i)));
      assertMended(runJob(optionsOf({ seed, hosts: 20, arity: 2 + (seed % 3), faults })), `seed ${seed}`);
    }
  }, { timeoutMs: 60_000 });

  test('64 hosts, three inner agents killed at once under heavy output', () => {
    const apps = [{ program: 'lines', args: ['250', '320', '0.004'], count: 64 }];
    for (const arity of share([3, 8], 2)) {
      const faults = [0, 1, 2].map((host) => killOf(host, 500));
      const done = runJob(optionsOf({ hosts: 64, arity, apps, faults, settings: { 'iof.window': '262144' } }));
      assert.equal(done.problems, []);
      const lost = done.run.record.report?.ranks.filter(({ outcome }) => outcome !== 'exited');
      assert.equal(lost?.map(({ host }) => host), ['n0', 'n1', 'n2']);
      for (let rank = 3; rank < 64; rank++) assert.is(done.run.record.streams.get(`${rank}/stdout`)?.bytes, 80_000);
    }
  }, { timeoutMs: 60_000 });

  test('the agent that mends is killed while it does', () => {
    // n2 is below n0, which is to reach n5 and n6; then the controller is.
    for (const laterMs of share([0, 0.3, 0.6, 1, 1.5, 2, 3, 5, 20], 3)) {
      const faults = [killOf(2, 600), killOf(0, 600 + laterMs)];
      assertMended(runJob(optionsOf({ hosts: 14, arity: 2, faults })), `${laterMs} ms later`);
    }
  }, { timeoutMs: 60_000 });

  test('lost while hosts come up, and while the job ends', () => {
    for (const step of share(range(0, 20), 6)) {
      const launch = [killOf(step % 3, step * 0.8), killOf(3 + (step % 4), step * 1.3)];
      assert.equal(runJob(optionsOf({ arity: 2, faults: launch, seed: step })).problems, [], `launch, step ${step}`);
      const ending = [kill(600 + step * 5, (step * 0.37) % 1), kill(601 + step * 6, (step * 0.53) % 1)];
      const controls = [{ kind: 'interrupt', kill: step % 4 === 3, atMs: 600 } as const];
      const apps = [{ program: step % 2 === 0 ? 'ignore-term' : 'lines', args: ['2', '80', '0.02'], count: 12 }];
      const options = { arity: 2, faults: ending, controls, apps, seed: step, settings: { 'tool.grace': '100ms' } };
      assert.equal(runJob(optionsOf(options)).problems, [], `end, step ${step}`);
    }
  }, { timeoutMs: 60_000 });

  test('with agents linked over the network, and session agents of their own', () => {
    const variants: Record<string, string>[] = [{ 'bootcom.boot': 'ws' }, { 'launcher.session.method': 'process' }];
    for (const settings of variants) {
      for (const pick of share([0.05, 0.3, 0.45, 0.7], 2)) {
        assertMended(runJob(optionsOf({ arity: 3, settings, faults: [kill(700, pick)] })), `${pick}`);
      }
    }
  }, { timeoutMs: 60_000 });

  test('a mend costs messages in proportion to the hosts', () => {
    for (const hosts of share([12, 40], 2)) {
      const quiet = runJob(optionsOf({ hosts, arity: 8 })).run.wire.frames;
      const done = runJob(optionsOf({ hosts, arity: 8, faults: [kill(700, 0.3)] }));
      const more = done.run.wire.frames - quiet;
      assert.ok(more < FRAMES_MAX * hosts, `${more} more frames with ${hosts} hosts`);
    }
  }, { timeoutMs: 60_000 });
});
