// @timeoutMs 120000
/** How jobs end: signals are sent once, nothing starts after the end, the report is whole for any number of ranks. */

import type { SimProcess } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { PLAIN, refuseLogin, runJob, type RunOutcome, type SwarmOptions } from '@stci/swarm';
import { range, sweep } from './first-seed.js';

/** From the front-end to the session agent, and a start that is under way. */
const TRAVEL_MS = 0.8;

const isTool = ({ env }: SimProcess): boolean => env['STCI_RANK'] !== undefined;

function outcomes({ run }: RunOutcome): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of run.record.report?.ranks ?? []) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

suite('ends of jobs', (test) => {
  test('a report of more ranks, or of more failures, than one message holds arrives whole', () => {
    const settings = { launcherproc: 'local', 'message.bytes.max': '65536' };
    const apps = [{ program: 'exit', args: ['3'], count: 1500 }];
    const failed = runJob({ ...PLAIN, slots: 1500, apps, settings: { ...settings, errmgr: 'continue' } });
    assert.equal([failed.problems, outcomes(failed)], [[], { exited: 1500 }]);
    assert.is(failed.run.record.report?.failures.length, 1000);
  }, { timeoutMs: 60_000 });

  test('200 000 ranks that were never started are all in the report', () => {
    const options: SwarmOptions = { ...PLAIN, hosts: 50, remote: true, slots: 4000,
      apps: [{ program: 'true', args: [], count: 200_000 }], faults: [refuseLogin(3, 9)],
      settings: { launcherproc: 'remote' } };
    const failed = runJob(options);
    assert.equal([failed.problems, outcomes(failed)], [[], { 'not-started': 200_000 }]);
    assert.is(failed.run.record.report?.exitCode, 197);
  }, { timeoutMs: 60_000 });

  test('input for all: a host that is lost when its ranks have ended does not hold up the others', () => {
    const options: SwarmOptions = { ...PLAIN, hosts: 2, remote: true, stdin: { to: 'all' }, stdinBytes: 3_000_000,
      apps: [{ program: 'true', args: [], count: 1 }, { program: 'count-input', args: [], count: 1 }],
      settings: { launcherproc: 'remote', launcher: 'flat', errmgr: 'continue', 'launcher.root.method': 'process',
        'iof.window': '65536' },
      link: { ...PLAIN.link, latencyMs: 20 },
      faults: [{ kind: 'crash', atMs: 300, victim: { kind: 'host', host: 0 } }] };
    const done = runJob(options);
    assert.equal(done.problems, []);
    assert.equal(outcomes(done), { exited: 2 });
    assert.equal(done.run.faults.length, 1);
    assert.ok(done.run.record.events.some((event) => event.type === 'failure' && event.error.host === 'n0'));
  });

  for (const method of ['process', 'thread', 'inline']) {
    for (const boot of ['native', 'ws']) {
      test(`session agent as ${method}, ${boot} link: no tool starts after an interrupt, at any moment`, () => {
        const seen = new Set<string>();
        for (const step of sweep(range(0, 60), 10, [0, 59])) {
          const atMs = 1.3 + step * 0.04;
          const options: SwarmOptions = { ...PLAIN, hosts: 1, remote: true, slots: 3,
            apps: [{ program: 'sleep', args: ['30'], count: 3 }],
            controls: [{ kind: 'interrupt', kill: false, atMs }],
            settings: { launcherproc: 'remote', 'launcher.root.method': 'process',
              'launcher.session.method': method, 'bootcom.boot': boot } };
          const ended = runJob(options);
          assert.equal(ended.problems, [], `step ${step}`);
          for (const outcome of Object.keys(outcomes(ended))) seen.add(outcome);
          const late = ended.run.world.processes().filter((each) => isTool(each) && each.startMs > atMs + TRAVEL_MS);
          assert.equal(late.map(({ startMs }) => startMs - atMs), [], `step ${step}`);
          assert.ok((ended.run.record.reportMs ?? Infinity) < 1000, `step ${step}: ${ended.run.record.reportMs} ms`);
        }
        assert.equal([...seen].sort(), ['ended', 'not-started']);
      }, { timeoutMs: 60_000 });
    }
  }
});
