/** The built stcirun, end to end: hosts that do not come up, by a client in place of ssh that refuses or is slow. */
// @timeoutMs 180000
// @sameFor user, node: core decides; what a client in place of ssh does is ssh-fake's.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { run, sh, type Result } from './e2e.js';
import { soon, withPlace } from './e2e-place.js';
import { drawn } from './drawn.js';
import { atTerminal, whyNoPty } from './pty.js';

const CLIENT = fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url));
const SSH = ['--launcher', 'ssh', '--mca', `launcher.ssh.client=${CLIENT}`];
const LONG = { timeoutMs: 40_000 };

suite('stcirun, hosts that do not come up', (test) => {
  let directory = '';
  test.before(() => {
    directory = mkdtempSync(join(tmpdir(), 'stci-launch-'));
  });
  test.after(() => rmSync(directory, { recursive: true, force: true }));

  const launch = (words: string, ...program: readonly string[]): Promise<Result> => {
    const env = { XDG_CACHE_HOME: directory, FAKE_SSH_DIR: directory };
    return run([...SSH, ...words.split(' '), ...program], { env, input: 'line\n' });
  };
  const lines = (text: string): string[] => text.split('\n').sort().slice(1);

  test('abort: exit code 197 and what ssh said', async () => {
    const job = await launch('--host a,dead', 'true');
    assert.is(job.exitCode, 197, job.err);
    assert.match(job.err, 'Connection refused');
    const all = await launch('--host dead1,dead2', 'true');
    assert.is(all.exitCode, 197);
    assert.match(all.err, /dead1[^]*dead2/u);
  }, LONG);

  test('retry: the host is tried again', async () => {
    const job = await launch('--host a,once1 --on-launch-failure retry:1 --tag=full', 'echo', 'x');
    assert.is(job.exitCode, 0, job.err);
    assert.equal(lines(job.out), ['[a:0:stdout] x', '[once1:1:stdout] x']);
    const vain = await launch('--host a,dead --on-launch-failure retry:2 -v', 'true');
    assert.is(vain.exitCode, 197, vain.err);
    assert.is(vain.err.match(/ s: restarting the agent of host dead/gu)?.length, 2, vain.err);
  }, LONG);

  test('spare: it carries the ranks, in tags, files, JSON and report; the reason is told', async () => {
    const job = await launch('--host dead,a,s1,s2 --spares 2 --tag=full --exit-report', 'echo', 'x');
    assert.is(job.exitCode, 0, job.err);
    assert.equal(lines(job.out), ['[a:1:stdout] x', '[s1:0:stdout] x']);
    assert.match(job.err, 'stcirun: spare host s1 takes the place of dead: ');
    assert.match(job.err, 'Connection refused');
    assert.match(job.err, /^0 +s1 .*exited/mu);
    const json = await launch('--host dead,a,s1 --spares 1 --json', 'echo', 'x');
    const objects = json.out.trim().split('\n').map((line) => JSON.parse(line));
    assert.equal(objects.filter(({ type }) => type === 'output').map(({ host }) => host).sort(), ['a', 's1']);
    assert.is(objects.find(({ type }) => type === 'recovery').spare, 's1');
    const none = await launch('--host dead1,dead2,s --spares 1', 'true');
    assert.is(none.exitCode, 197, none.err);
  }, LONG);

  test('shrink: the others go on, if they are enough', async () => {
    const job = await launch('--host a,dead,b --min-hosts 2 --tag=full', 'echo', 'x');
    assert.is(job.exitCode, 0, job.err);
    assert.equal(lines(job.out), ['[a:0:stdout] x', '[b:1:stdout] x']);
    assert.match(job.err, 'stcirun: host dead is left out: ');
    assert.match(job.err, /\nstcirun: ran without dead: it did not come up\n$/u);
    const few = await launch('--host a,dead,b --min-hosts 3', 'true');
    assert.is(few.exitCode, 197, few.err);
    for (const [options, code, words] of [
      ['--quiet', 0, 'ran without dead: it did not come up'],
      ['--quiet --strict', 197, 'The job ran without dead, which did not come up (--strict)'],
    ] as const) {
      const { exitCode, out, err } = await launch(`--host a,dead --min-hosts 1 ${options}`, 'echo', 'x');
      assert.equal([exitCode, out, err], [code, 'x\n', `stcirun: ${words}\n`]);
    }
    const failed = await launch('--host a,dead --min-hosts 1 --strict', ...sh('exit 3'));
    assert.is(failed.exitCode, 3, 'the first failure decides');
  }, LONG);

  test('shrink: programs are told of the hosts that are left, and their places among these', async () => {
    const line = sh('echo $STCI_HOST $STCI_NODE/$STCI_NODES');
    const job = await launch('--host dead,a,dead2,b,c --ppn 1 --min-hosts 2 -n 2', ...line);
    assert.is(job.exitCode, 0, job.err);
    assert.equal(lines(job.out), ['a 0/3', 'b 1/3']);
  }, LONG);

  test('shrink: input goes to a rank that is there; one that is not ends the job', async () => {
    const line = sh('read x && echo got $x on $STCI_HOST || exit 0');
    const job = await launch('--host a,dead,b --min-hosts 1 --stdin 1', ...line);
    assert.match(job.out, 'got line on b', job.err);
    const gone = await launch('--host a,dead,b --min-hosts 1 --stdin 2', 'cat');
    assert.is(gone.exitCode, 193, gone.err);
    assert.match(gone.err, 'expected a rank in 0..1');
  }, LONG);

  test('each start that fails has a record: of an agent of the launch, and of a host that is to join', async () => {
    const records = (lines: string): unknown[] => lines.trim().split('\n').map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'failure-record')
      .map(({ subject, hostName, cause, reporter, policy }) => [subject, hostName, cause, reporter, policy]);
    const host = (index: number, incarnation: number) => ({ kind: 'host', host: index, incarnation });
    const retried = await launch('--host a,dead --on-launch-failure retry:1 --json', 'true');
    const again = 'restarting the agent of host dead in 1 s, attempt 2';
    assert.equal(records(retried.out), [
      [host(1, 1), 'dead', 'not-started', 'controller', [again]], [host(1, 2), 'dead', 'not-started', 'controller',
        ['the launch is ended: dead was started 2 times (errmgr.launch.retries)']],
    ]);
    const fewer = await launch('--host dead,a --min-hosts 1 --json', 'true');
    assert.equal(records(fewer.out),
      [[host(0, 1), 'dead', 'not-started', 'controller', ['host dead is left out']]]);
    const late = await launch('--host a,dead,slow --on-launch-failure retry:9 --launch-timeout 1ms --json', 'true');
    assert.equal(records(late.out), [0, 1, 2].map((index) =>
      [host(index, 1), ['a', 'dead', 'slow'][index], 'not-started', 'controller', ['the launch is ended']]));
    await withPlace(async (place) => {
      const events = join(place.directory, 'events');
      Object.assign(place.env, { XDG_CACHE_HOME: directory, FAKE_SSH_DIR: directory });
      const started = place.stci('start', ...SSH, '--host', 'a', '--name', 'late', '--events', events);
      assert.is(started.exitCode, 0, started.err);
      assert.is(place.stci('add-hosts', 'dead', '--session', 'late').exitCode, 197);
      await soon(() => readFileSync(events, 'utf8').includes('failure-record'), 'the record');
      assert.equal(records(readFileSync(events, 'utf8')), [[host(1, 1), 'dead', 'not-started', 'controller', []]]);
    })();
  }, LONG);

  test('an agent starts all hosts below it by one method, also where the first of them is this machine', async () => {
    const mixed = ['--mca', `launcher.ssh.client=${CLIENT}`, '--mca', 'launcher.tree.arity=1'];
    const env = { XDG_CACHE_HOME: directory, FAKE_SSH_DIR: directory };
    rmSync(join(directory, 'logins'), { force: true });
    const job = await run([...mixed, '--host', `a,${hostname()},b`, 'true'], { env });
    assert.is(job.exitCode, 0, job.err);
    assert.equal(readFileSync(join(directory, 'logins'), 'utf8').split('\n'), ['a', hostname(), 'b', '']);
  }, LONG);

  const why = whyNoPty ?? '';
  test.skipIf(why !== '', why, 'at a terminal a slow launch has a line that goes again', async () => {
    const words = [...SSH, '--host', 'a,slow', 'echo', 'up'].map((word) => `'${word}'`).join(' ');
    for (const columns of [24, 80, 200]) {
      const screen = atTerminal(`export XDG_CACHE_HOME='${directory}'; stcirun ${words}`, { rows: 4, columns });
      assert.is(await screen.exitCode, 0, screen.text());
      const line = columns === 24 ? /stcirun: 1\/2 hosts up,…/u : /stcirun: 1\/2 hosts up, \d\.\d s, waiting for slow/u;
      assert.match(screen.text(), line);
      assert.equal(drawn(screen.text(), 4, columns), ['up', 'up', '', ''], 'one line, which is gone');
    }
    const quiet = atTerminal(`export XDG_CACHE_HOME='${directory}'; stcirun -q ${words}`);
    assert.is(await quiet.exitCode, 0);
    assert.is(quiet.text(), 'up\r\nup\r\n');
  }, LONG);
});
