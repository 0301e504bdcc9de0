/** Jobs whose agents are started together by one step: hosts that give no place, each policy, deaths at any moment. */

import { assert, suite } from '@stci/testkit';
import {
  FRONT_END, PLAIN, plainFailures, refuseLogin, rootAgent, runFailures, runJob, type RunHooks, type RunOutcome,
  type Step, type SwarmOptions,
} from '@stci/swarm';
import { range, share } from './first-seed.js';

interface Wish extends Partial<Omit<SwarmOptions, 'settings'>> {
  readonly settings?: Readonly<Record<string, string>>;
  readonly hooks?: RunHooks;
}

/** A rank per host that tells its host's name; the checkers have judged it. */
function job({ hosts = 7, settings = {}, hooks = {}, ...over }: Wish): RunOutcome & { readonly logins: number } {
  const all = { launcherproc: 'together', 'launcher.tree.arity': '2', 'launcher.root.method': 'process', ...settings };
  const apps = [{ program: 'hostname', args: [], count: hosts }];
  let logins = 0;
  const onWorld: RunHooks['onWorld'] = (world) => {
    const login = world.findAgent('login');
    world.program('login', (context) => {
      logins += 1;
      login?.(context);
    });
    hooks.onWorld?.(world);
  };
  const outcome = runJob({ ...PLAIN, hosts, remote: true, apps, settings: all, ...over }, { ...hooks, onWorld });
  assert.equal(outcome.problems, [], JSON.stringify({ hosts, settings, ...over }));
  assert.is(outcome.run.isOver, true);
  return { ...outcome, logins };
}

const refused = (...hosts: number[]): Step[] => hosts.map((host) => refuseLogin(host, 100));
const SILENT = refuseLogin(3, 100, { isSilent: true });
const exitOf = ({ run }: RunOutcome): number | undefined => run.record.report?.exitCode;
const messages = ({ run }: RunOutcome): string[] =>
  (run.record.report?.failures ?? []).map(({ message }) => message).sort();
const ranksOn = ({ run }: RunOutcome): string[] => (run.record.report?.ranks ?? []).map(({ host }) => host);

suite('jobs whose agents are started together', (test) => {
  test('all agents come up by their places, and none by a start of its own', () => {
    for (const [hosts, arity] of [[1, 2], [2, 1], [7, 2], [40, 3]] as const) {
      for (const late of ['0ms', '20ms']) {
        const settings = { 'launcher.tree.arity': String(arity), 'launcherproc.together.late': late };
        const done = job({ hosts, settings });
        assert.equal([exitOf(done), done.logins, ranksOn(done).length], [0, 0, hosts]);
      }
    }
  });

  test('abort: all hosts that do not come up are named, also those below others, with what they printed', () => {
    const one = job({ faults: refused(0, 2, 5) });
    assert.is(exitOf(one) === 0, false);
    assert.equal(messages(one).map((text) => text.split('\n')), [0, 2, 5].map((host) => [
      `Agent root:${host} on host n${host} did not come up: the step on host n${host} has ended`,
      `  it printed: n${host}: refused`,
    ]));
  });

  test('a host that says nothing fails by itself after a while without progress, and the others wait for it', () => {
    const one = job({ faults: [SILENT], settings: { 'launcher.handshake': '2s' } });
    assert.equal(messages(one), ['Agent root:3 on host n3 did not come up: no word from its agent within 2.3 s '
      + '(launcher.handshake); it got as far as phase 6 of 7 agents wait']);
    const shrunk = job({
      faults: [SILENT], settings: { 'launcher.handshake': '2s', 'errmgr.launch': 'shrink' },
    });
    assert.equal([exitOf(shrunk), shrunk.logins], [0, 0]);
  });

  test('shrink: agents below a host that is left out come up by their places', () => {
    for (const host of range(0, 7)) {
      const done = job({ faults: refused(host), settings: { 'errmgr.launch': 'shrink' } });
      assert.equal([exitOf(done), done.logins], [0, 0], `host ${host}`);
      assert.is(ranksOn(done).includes(`n${host}`), false);
    }
  });

  test('retry, spare: only the host that failed has a start of its own', () => {
    for (const host of range(0, 7)) {
      const again = job({ faults: [refuseLogin(host, 1)], settings: { 'errmgr.launch': 'retry' } });
      assert.equal([exitOf(again), again.logins], [0, 1], `host ${host}`);
      const spare = job({ faults: refused(host), settings: { 'errmgr.launch': 'spare' } });
      assert.equal([exitOf(spare), spare.logins], [0, 1], `host ${host}`);
    }
  });

  test('a host that was not reached is reached where its agent waits; a spare in its place is started', () => {
    const settings = { 'launcher.handshake': '1s', 'launcherproc.together.ends': 'false' };
    // While the controller connects to where it waits.
    const hooks: RunHooks = {
      onWorld: (world) => {
        world.at(10, () => world.cutLink('n0', 'login'));
        world.at(900, () => world.mendLink('n0', 'login'));
      },
    };
    const link = { ...PLAIN.link, latencyMs: 3, timeoutMs: 60_000 };
    const again = job({ hosts: 3, settings: { ...settings, 'errmgr.launch': 'retry' }, link, hooks });
    assert.equal([exitOf(again), again.logins, ranksOn(again)], [0, 0, ['n0', 'n1', 'n2']]);
    const spare = job({ hosts: 3, settings: { ...settings, 'errmgr.launch': 'spare' }, link, hooks });
    assert.equal([exitOf(spare), spare.logins, ranksOn(spare)], [0, 1, ['n3', 'n1', 'n2']]);
  });

  const MOMENTS = range(0, 40).map((step) => step / 4);

  test('an agent, a step, a host, the controller die at each moment of the start: nothing is left', () => {
    const settings = { 'launcherproc.together.late': '1ms', 'errmgr.launch': 'retry', 'bootcom.lease': '2s' };
    for (const atMs of share(MOMENTS, 4)) {
      const pick = (atMs * 7) % 1;
      const faults: Step[] = [
        { kind: 'kill', atMs, victim: { of: 'agents', pick } },
        { kind: 'crash', atMs, victim: { kind: 'host', host: Math.floor(pick * 5) } },
        { kind: 'kill', atMs, victim: FRONT_END },
      ];
      for (const fault of faults) {
        for (const ends of ['true', 'false']) {
          job({ hosts: 5, faults: [fault], settings: { ...settings, 'launcherproc.together.ends': ends } });
        }
      }
    }
  }, { timeoutMs: 60_000 });

  test('wherever an agent that is linked dies, those below it that wait stay the only ones of their hosts', () => {
    for (const policy of ['retry', 'shrink']) {
      for (const atMs of share(range(20, 32), 2)) {
        const { run, problems } = runFailures(plainFailures({
          hosts: 5, faults: [{ during: 'launch', kind: 'kill', victim: rootAgent(0), atMs }], isPatient: false,
          link: { ...PLAIN.link, latencyMs: 3 },
          settings: { 'errmgr.launch': policy, launcherproc: 'together', 'launcherproc.together.ends': 'false' },
        }));
        assert.equal([problems, run.quiet?.hosts.length], [[], 5], `${policy}, ${atMs} ms`);
      }
    }
  }, { timeoutMs: 60_000 });

  test('retry: wherever one agent dies while others wait or are linked, all ranks run', () => {
    const settings = { 'launcherproc.together.late': '1ms', 'errmgr.launch': 'retry' };
    for (const atMs of share(MOMENTS, 4)) {
      for (const host of range(0, 5)) {
        const fault: Step = { kind: 'kill', victim: rootAgent(host), start: 1, atMs };
        const done = job({ hosts: 5, faults: [fault], settings });
        const kinds = done.run.record.events.map(({ type }) => type);
        const isLate = kinds.slice(0, kinds.indexOf('failure')).filter((kind) => kind === 'host-up').length === 5;
        assert.equal([exitOf(done) === 0 || isLate, ranksOn(done).length], [true, 5], `host ${host}, ${atMs} ms`);
      }
    }
  }, { timeoutMs: 60_000 });
});
