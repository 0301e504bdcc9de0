// @timeoutMs 240000
/** Whole jobs whose hosts do not all come up: refused, silent, killed at every moment of their start; each policy. */

import { assert, suite } from '@stci/testkit';
import { PLAIN, refuseLogin, rootAgent, runJob, type RunOutcome, type Step, type SwarmOptions } from '@stci/swarm';
import { range, share, sweep } from './first-seed.js';

const SIZES = [[1, 1], [2, 1], [5, 1], [4, 2], [7, 2], [13, 3], [40, 4], [40, 2]] as const;

interface Wish extends Partial<Omit<SwarmOptions, 'settings'>> {
  readonly arity?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** A rank per host that tells its host's name, on hosts of their own; the checkers have judged it. */
function job({ hosts = 7, arity = 2, settings = {}, ...over }: Wish): RunOutcome {
  const all = { launcherproc: 'remote', 'launcher.tree.arity': String(arity), 'launcher.root.method': 'process',
    ...settings };
  const apps = [{ program: 'hostname', args: [], count: hosts }];
  const outcome = runJob({ ...PLAIN, hosts, remote: true, apps, settings: all, ...over });
  assert.equal(outcome.problems, [], JSON.stringify({ hosts, arity, settings, ...over }));
  assert.is(outcome.run.isOver, true);
  return outcome;
}

const refused = (...hosts: number[]): Step[] => hosts.map((host) => refuseLogin(host, 100));
const exitOf = ({ run }: RunOutcome): number | undefined => run.record.report?.exitCode;
const places = ({ run }: RunOutcome): string[] => (run.record.report?.ranks ?? []).map(({ host }) => host);
const outcomes = ({ run }: RunOutcome): string[] =>
  [...new Set((run.record.report?.ranks ?? []).map(({ outcome }) => outcome))];
const failures = ({ run }: RunOutcome): string[] =>
  (run.record.report?.failures ?? []).flatMap(({ host }) => host ?? []).sort();

const isMoved = ({ run }: RunOutcome): boolean =>
  run.record.events.some((event) => event.type === 'warning' && event.text.includes('started on other hosts'));

/** Whole jobs by the dozen, on a machine that may be busy. */
const WIDE = { timeoutMs: 60_000 };

suite('jobs whose hosts do not all come up', (test) => {
  test('abort: nothing runs, the exit code says so, each bad host that was tried is named once', () => {
    const one = job({ faults: refused(3) });
    assert.equal([exitOf(one) === 0, outcomes(one), failures(one)], [false, ['not-started'], ['n3']]);
    // n2 and n4 are below n0: they are never tried.
    assert.equal(failures(job({ faults: refused(0, 1, 2, 4) })), ['n0', 'n1']);
    assert.equal(failures(job({ faults: refused(2, 3, 4, 5) })), ['n2', 'n3', 'n4', 'n5']);
  }, WIDE);

  test('abort: further failures are awaited for a while, and no longer than any may come', () => {
    const faults = [refuseLogin(0, 9, { isSilent: true }), ...refused(1)];
    const short = job({ faults, settings: { 'errmgr.launch.collect': '500ms' } });
    assert.equal(failures(short), ['n1']);
    assert.ok((short.run.record.reportMs ?? 0) < 700);
    const long = job({ faults, settings: { 'errmgr.launch.collect': '60s', 'launcher.handshake': '4s' } });
    assert.equal(failures(long), ['n0', 'n1']);
    assert.ok((long.run.record.reportMs ?? 0) < 4200);
  }, WIDE);

  for (const [hosts, arity] of SIZES) {
    test(`retry, ${hosts} hosts, arity ${arity}: each host in turn fails twice, and all ranks run`, () => {
      const settings = { 'errmgr.launch': 'retry' };
      for (const host of share(range(0, hosts, hosts > 10 ? 7 : 1), 8)) {
        for (const isSilent of [false, true]) {
          const done = job({ hosts, arity, settings, faults: [refuseLogin(host, 2, { isSilent })] });
          assert.equal([exitOf(done), outcomes(done)], [0, ['exited']]);
        }
      }
      assert.is.not(exitOf(job({ hosts, arity, settings, faults: refused(hosts - 1) })), 0);
    }, WIDE);

    test(`shrink, ${hosts} hosts, arity ${arity}: what is below a host that is left out runs its ranks`, () => {
      for (const host of share(range(0, hosts, hosts > 10 ? 7 : 1), 8)) {
        for (const isSilent of [false, true]) {
          const faults = [refuseLogin(host, 9, { isSilent })];
          const done = job({ hosts, arity, settings: { 'errmgr.launch': 'shrink' }, faults });
          if (hosts === 1) {
            assert.is.not(exitOf(done), 0);
            continue;
          }
          assert.equal([exitOf(done), outcomes(done)], [0, ['exited']]);
          const others = Array.from({ length: hosts }, (_, index) => `n${index}`).filter((_, index) => index !== host);
          assert.equal([...new Set(places(done))].sort(), others.sort());
        }
      }
    }, WIDE);
  }

  test('shrink: a whole path of inner hosts, and many at once; fewer than the least number end it', () => {
    const settings = { 'errmgr.launch': 'shrink', 'errmgr.launch.min': '3' };
    const path = job({ hosts: 15, settings, faults: refused(0, 2, 6) });
    assert.equal([exitOf(path), new Set(places(path)).size], [0, 12]);
    assert.equal(exitOf(job({ hosts: 15, settings, faults: refused(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13) })), 0);
    const most = Array.from({ length: 13 }, (_, host) => host);
    const tooFew = job({ hosts: 15, settings, faults: refused(...most) });
    assert.is.not(exitOf(tooFew), 0);
    const why = tooFew.run.record.report?.failures.filter(({ host }) => host === undefined) ?? [];
    assert.equal(why.map(({ message }) => message), ['The launch was ended: at most 2 hosts can come up, '
      + 'fewer than the 3 that --min-hosts (errmgr.launch.min) asks for']);
  }, WIDE);

  test('an agent that finds no port to listen at does not come up, and nobody waits for those below it', () => {
    // One machine, two ports: the controller has one, n0 the other.
    const settings = { launcherproc: 'local', 'bootcom.boot': 'ws', 'bootcom.ws.ports': '40000-40001' };
    const ended = job({ hosts: 4, arity: 1, remote: false, settings, timeoutMs: 50_000 });
    assert.equal([exitOf(ended) === 0, failures(ended)], [false, ['n1']]);
    assert.match(ended.run.record.report?.cause?.message ?? '', /root:1 on host n1 exited: .*port/);
    const shrunk = job({ hosts: 4, arity: 1, remote: false, settings: { ...settings, 'errmgr.launch': 'shrink' } });
    assert.equal([exitOf(shrunk), [...new Set(places(shrunk))]], [0, ['n0']]);
  }, WIDE);

  test('spare: takes the place of any host; a third bad host ends it', () => {
    const settings = { 'errmgr.launch': 'spare' };
    for (let host = 0; host < 7; host++) {
      const done = job({ settings, faults: refused(host) });
      assert.equal([exitOf(done), places(done).includes('n7'), places(done).includes(`n${host}`)], [0, true, false]);
    }
    const two = job({ settings, faults: refused(0, 2) });
    assert.equal([exitOf(two), places(two).filter((name) => ['n7', 'n8'].includes(name)).length], [0, 2]);
    assert.is.not(exitOf(job({ settings, faults: refused(0, 2, 5) })), 0);
  }, WIDE);

  for (const policy of ['retry', 'shrink', 'spare']) {
    test(`${policy}: whoever takes the place of an inner agent knows who was left out or replaced below it`, () => {
      const counts = new Set<number>();
      for (const step of sweep(range(0, 16), 16, [0, 15])) {
        // n6 is below n2, and n2 below n0: it fails first, then one above it dies at any moment, up or not yet.
        for (const above of [0, 2]) {
          const kill: Step = { kind: 'kill', victim: rootAgent(above), start: 1, atMs: step * 0.5 };
          const faults = [refuseLogin(6, policy === 'retry' ? 1 : 9), kill];
          const done = job({ hosts: 15, settings: { 'errmgr.launch': policy }, faults });
          const names = new Set(places(done));
          if (exitOf(done) !== 0) assert.ok(failures(done).includes(`n${above}`), failures(done).join());
          else assert.is(names.has('n6'), policy === 'retry');
          // Killed just after the launch: ranks that had not started below it are on other hosts.
          const hasMoved = done.run.record.events.some((event) =>
            event.type === 'warning' && event.text.includes('started on other hosts'));
          if (exitOf(done) === 0 && !hasMoved) counts.add(names.size);
        }
      }
      assert.equal([...counts].sort(), policy === 'shrink' ? [13, 14] : [15]);
    }, WIDE);
  }

  for (const policy of ['abort', 'retry', 'shrink', 'spare']) {
    for (const boot of ['native', 'ws']) {
      test(`${policy}, ${boot} links: an agent killed at any moment of the start`, () => {
        const settings = { 'errmgr.launch': policy, 'bootcom.boot': boot };
        const seen = new Set<number | undefined>();
        // At 10 n0 has passed the launch on, and told of its own rank's start.
        for (const step of sweep(range(0, 12), 6, [0, 10])) {
          for (const host of [0, 2, 6]) {
            // From its first step on, over boot record, handshake and being up, to the launch.
            const kill: Step = { kind: 'kill', victim: rootAgent(host), start: 1, atMs: step * 0.7 };
            const done = job({ settings, faults: [kill] });
            seen.add(exitOf(done));
            const names = new Set(places(done));
            // Lost in the launch of the job, with those below it: ranks that had not started run elsewhere.
            if (exitOf(done) === 0 && isMoved(done)) assert.not.ok(names.has(`n${host}`));
            else if (exitOf(done) === 0) assert.is(names.size, policy === 'shrink' && !names.has(`n${host}`) ? 6 : 7);
            else assert.ok(failures(done).includes(`n${host}`), `step ${step}: ${failures(done).join()}`);
          }
        }
        assert.ok(seen.has(0), 'some are too late to do harm, or are mended');
        assert.ok(seen.size > 1, 'others are not');
      }, WIDE);
    }
  }
});
