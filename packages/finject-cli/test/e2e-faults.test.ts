/** Faults at what carries the experiment, by hand, and what a terminal shows. */
// @timeoutMs 600000

import { spawnSync } from 'node:child_process';
import { assert, eventually, suite } from '@stci/testkit';
import { LONG, recordsOf, said, states, submitSleep, withLab, type Lab } from './e2e-finject.js';

const HOSTS = ['--host', 'a:2,b:2', '--launcher', 'local'];

function experiment(who: string, allow = ''): string {
  return `name: e
target:
  options: [-n, 2, --host, 'a:1,b:1', --launcher, local]
  program: [sleep, '20']
faults:
  - { name: end, kind: agent, who: { agents: ${who} }, when: 100ms }
${allow}`;
}

const hasPty = spawnSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode(0)']).status === 0;

/** With a job of so many ranks. */
async function withSession(
  lab: Lab, body: () => Promise<void>, ranks = 4, options: readonly string[] = ['--on-failure', 'continue'],
): Promise<void> {
  said(await lab.run('stci', 'start', ...HOSTS, '--name', 'lab'), 0);
  try {
    await submitSleep(lab, 'lab', ranks, options);
    await body();
  } finally {
    await lab.run('stci', 'stop', '--kill', 'lab');
    await lab.run('stci', 'stop', 'lab');
  }
}

suite('faults at what carries the experiment', (test) => {
  test('controller and front-end are victims only where the file allows it', withLab(async (lab) => {
    for (const role of ['controller', 'front-end']) {
      lab.file(`${role}.yaml`, experiment(role));
      const refused = await lab.run('finject', 'run', `${role}.yaml`);
      said(refused, 193);
      assert.match(refused.err, 'allow');
      lab.file(`${role}.yaml`, experiment(role, `allow: ${role}\n`));
    }
    const ended = await lab.run('finject', 'run', 'front-end.yaml', '--output', 'self');
    assert.is(ended.exitCode, null);
    assert.is(lab.history('self').isCutOff, true);
    await lab.checkGone();
    const lost = await lab.run('finject', 'run', 'controller.yaml', '--output', 'lost');
    const history = lab.history('lost');
    assert.equal([history.isCutOff, history.problems], [false, []], lost.err);
    assert.ok(states(history).includes('1.end.1 ordered'));
    assert.is(recordsOf(history, 'repeat-end')[0]?.stopped, undefined);
  }), LONG);

  test('a session that is killed from outside: the repeat does not pass', withLab(async (lab) => {
    lab.file('e.yaml', experiment('root').replace('when: 100ms', 'when: 60s').replace("'20'", "'90'"));
    const run = lab.start('finject', 'run', 'e.yaml', '--output', 'out');
    const isUnderWay = (): boolean => lab.hasHistory('out') && recordsOf(lab.history('out'), 'start').length > 0;
    await eventually(isUnderWay, { deadlineMs: 30_000, what: 'the start' });
    process.kill(lab.sessionPid('out'), 'SIGKILL');
    const { exitCode, out } = await run.result;
    assert.is(exitCode, 204, out);
    assert.match(out, /0 passed/u);
    assert.is(lab.history('out').isCutOff, false);
  }), LONG);

  test('by hand: load, a link, an agent, a host', withLab(async (lab) => {
    await withSession(lab, async () => {
      for (const [agent, expected] of [
        ['controller:b', 'the controller is one for the whole session, and is of no host'],
        ['controller:', 'the controller is one for'], ['root', 'of which host? Write root:HOST'], ['root:', 'of which'],
        ['root:a:b', 'host a:b is not one of'], ['contoller:b', "'contoller' is no agent"],
      ] as const) {
        const refused = await lab.run('finject', 'kill', 'lab.1', '--agent', agent);
        assert.match(`${refused.exitCode} ${refused.err}`, expected);
        assert.not.equal(refused.exitCode, 0);
      }
      for (const [args, expected] of [
        [['--host', 'b', '--kind', 'load', '--arg', 'cpu=1', '--for', '300ms'], /^injected: .*\n(?:.*\n)*undone/mu],
        [['--link', 'controller,a', '--for', '200ms', '--arg', 'mode=delay', '--arg', 'delay=10ms'],
          /^injected: .*\n(?:.*\n)*undone/mu],
        [['--agent', 'session:b'], /^injected: /mu],
        [['--host', 'a'], /^injected: /mu],
      ] as const) {
        const made = await lab.run('finject', 'kill', 'lab.1', ...args);
        assert.match(`${args.join(' ')}\n${made.out}${made.err}`, expected);
        assert.is(made.exitCode, 0, args.join(' '));
      }
    });
  }), LONG);

  test('by hand: a job that is over, hosts of others, and what cannot be injected', withLab(async (lab) => {
    await withSession(lab, async () => {
      said(await lab.run('stcirun', '--session', 'lab', '-n', '1', '--host', 'a', 'true'), 0);
      const told = async (...args: readonly string[]): Promise<string> => {
        const { exitCode, out, err } = await lab.run('finject', 'kill', ...args);
        return `${exitCode} ${out}${err}`;
      };
      for (const victim of [
        ['--host', 'b'], ['--agent', 'root:b'], ['--agent', 'session:b'], ['--agent', 'controller'], ['--rank', '0'],
        ['--link', 'controller,b', '--for', '1s'],
      ]) {
        assert.is(await told('lab.2', ...victim), '204 skipped: job 2 is over (controller)\n', victim.join(' '));
      }
      for (const victim of [['--host', 'a'], ['--agent', 'root:a'], ['--link', 'controller,a', '--for', '1s']]) {
        assert.is(await told('lab.1', ...victim), '204 failed: job 1 has no ranks on a, nor on hosts below in the tree '
          + 'of agents (controller)\n', victim.join(' '));
      }
      for (const [args, expected] of [
        [['--host', 'b', '--for', '3s'], 'kind host leaves nothing to undo. Leave --for out.'],
        [['--link', 'controller,b'], 'kind link is undone after a time, which is missing. Add --for, such as 2s.'],
        [['--rank', '0', '--signal', 'FOO'], "'FOO' is no signal: write its name or number, such as SIGTERM."],
        [['--rank', '0', '--kind', 'host'], 'fault host is done to a host, not to a rank.'],
        [['--rank', '0', '--rank', '0'], '--rank is given twice. Give it once.'],
        [['--rank'], '--rank needs a value: --rank LIST.'],
      ] as const) {
        assert.is(await told('lab.1', ...args), `193 finject: ${expected}\n`);
      }
      for (const victim of [
        ['--rank', '0'], ['--link', 'controller,b'], ['--host', 'b', '--kind', 'load', '--arg', 'cpu=1'],
      ]) {
        assert.match(await told('lab.1', ...victim, '--for', '100ms'), /^0 injected: .*\n(?:.*\n)*undone/u);
      }
      const held = await lab.run('stci', 'info', '--held', '--session', 'lab');
      assert.match(held.out, /root:1 on b/u);
      assert.not.match(held.out, 'fault');
      const left = await lab.run('stci', 'ps', 'lab.1');
      assert.match(`${left.exitCode} ${left.out}${left.err}`, /^0 .*running/su);
    }, 1, ['--host', 'b']);
  }), LONG);

  test('by hand, and the session stands still: it ends, and says what is not known', withLab(async (lab) => {
    await withSession(lab, async () => {
      const pid = lab.pidOf('lab');
      const run = lab.start('finject', 'kill', 'lab.1', '--rank', '0', '--for', '500ms');
      await eventually(() => run.out().includes('injected: '), { deadlineMs: 30_000, what: 'the fault' });
      process.kill(pid, 'SIGSTOP');
      try {
        const { exitCode, out } = await run.result;
        assert.match(out, /^failed: the session has not answered$/mu);
        assert.match(out, /^not known to be undone: The session has not answered within 10 s: /mu);
        assert.is(exitCode, 204);
        const asked = await lab.run('stci', 'ps', 'lab.1');
        assert.match(asked.err, /lab/u);
        assert.ok(asked.exitCode !== 0, asked.out);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });
  }), LONG);

  if (hasPty) test('at a terminal a line at the bottom is drawn over', withLab(async (lab) => {
    const text = experiment('root').replace("'20'", "'2'").replace('[sleep,', "[sh, -c, 'echo hi; sleep 1.5',")
      .replace('agents: root', 'ranks: 0').replace('kind: agent', 'kind: pause, duration: 50ms');
    lab.file('e.yaml', text);
    const { exitCode, out, err } = await lab.startAtTerminal('finject', 'run', 'e.yaml', '--output', 'out').result;
    assert.is(exitCode, 0, `${out}${err}`);
    assert.match(out, /\r\u001b\[Krepeat 1 of 1 {2}\d s {2}1 of 1 fault injected/u);
    assert.match(out, /\r\u001b\[K {7}\[0\] {2}hi\r\n/u);
    assert.match(out, /1 of 1 repeats; 1 passed\r\n/u);
  }), LONG);
});
