/** `stci doctor --clean` on test hosts: what was left is ended and listed, what is at work is spared. */
// @timeoutMs 120000
// @sameFor node: processes found in /proc and ended, as look-for-marks does.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MARK_TAG, TAG_SHIFT } from '@stci/platform-node';
import { assert, eventually, killThose, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';

const bin = (name: string): string => fileURLToPath(new URL(`../bin/${name}.cjs`, import.meta.url));
const why = whyNoHosts();
const LONG = { timeoutMs: 60_000 };

let hosts: Hosts;

interface Found {
  readonly usable: boolean;
  readonly checks: { readonly leftovers: { readonly state: string; readonly text: string; readonly problem?: string } };
}

async function doctor(...args: string[]): Promise<Found> {
  const said = await hosts.run([process.execPath, bin('stci'), 'doctor', '--json', '--host', 'h1', ...args]);
  return JSON.parse(said.stdout).hosts[0] as Found;
}

/** A running job of one rank on h1. */
class Job {
  readonly child: ChildProcess;
  out = '';
  err = '';
  code: number | null | undefined;

  constructor(line: string) {
    const args = ['--host', 'h1', '-n', '1', '--', 'sh', '-c', line];
    const [file, ...rest] = hosts.loginArgv([process.execPath, bin('stcirun'), ...args]);
    this.child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    this.child.stdout?.on('data', (chunk) => (this.out += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.err += String(chunk)));
    this.child.on('close', (code) => (this.code = code));
  }

  up(): Promise<unknown> {
    return eventually(() => this.out.includes('up\n'), { deadlineMs: 20_000, what: `the rank: ${this.err}` });
  }
}

const running = (text: string): number[] =>
  hosts.processes('h1').flatMap(({ command, pid }) => (command.includes(text) ? [pid] : []));

suite('stci doctor --clean', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why === undefined) hosts = await up(1);
  }, LONG);
  test.after(() => hosts?.down(), LONG);

  check('agent and guardian killed at once: the report says so, and the rest is found, ended and listed', async () => {
    const job = new Job('setsid sleep 601 & sleep 602 & echo up; sleep 603');
    await job.up();
    const victims = hosts.processes('h1').filter(({ command }) => /stci-agent|stci-guardian|STCI \$3/.test(command));
    // One that still runs when the other is dead would end the tools.
    for (const signal of ['SIGSTOP', 'SIGKILL']) for (const { pid } of victims) process.kill(pid, signal);
    await eventually(() => job.code !== undefined, { deadlineMs: 20_000, what: 'the end of stcirun' });
    assert.is(job.code, 200, job.err);
    assert.match(job.err, /programs on h1 may still run: 'stci doctor --clean --host h1' ends those of this user/);
    const left = running('sleep 60').length;
    assert.ok(left >= 1, `${left} processes are left: else this test shows nothing`);
    assert.match((await doctor()).checks.leftovers.problem ?? '', /left of earlier runs, and no agent looks/);
    const { checks, usable } = await doctor('--clean');
    assert.equal([usable, checks.leftovers.state, checks.leftovers.text], [true, 'good', `ended ${left}`]);
    assert.match(checks.leftovers.problem ?? '', /ended \d of earlier runs:(\n {2}\d+ {2}(sleep|sh) .*)+/);
    assert.equal(running('sleep 60'), []);
    assert.is((await doctor('--clean')).checks.leftovers.text, 'none');
  });

  check('an agent that is stopped, and that nothing will continue, is told and continued', async () => {
    const job = new Job('echo up; sleep 611');
    await job.up();
    const agents = hosts.processes('h1').filter(({ command }) => /^stci-agent/.test(command)).map(({ pid }) => pid);
    assert.ok(agents.length > 0);
    for (const pid of agents) process.kill(pid, 'SIGSTOP');
    const before = await doctor();
    assert.match(before.checks.leftovers.problem ?? '', /left of earlier runs, and no agent looks/);
    const { checks } = await doctor('--clean');
    assert.match(checks.leftovers.problem ?? '', /continued, as it was stopped: stci-agent/);
    for (const pid of agents) assert.not.match(readFileSync(`/proc/${pid}/stat`, 'latin1'), /\) T /);
    assert.is((await doctor('--clean')).checks.leftovers.text.slice(0, 4), 'none');
    assert.ok(running('sleep 611').length > 0, 'its ranks go on');
    job.child.kill('SIGTERM');
    await eventually(() => job.code !== undefined, { deadlineMs: 20_000, what: 'the end of stcirun' });
  });

  check('sockets of agents that were killed are removed, those in use are not', async () => {
    const directory = `/tmp/stci-${process.getuid?.()}`;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const socket = (name: string): string => join(directory, `${name}-${process.pid}.sock`);
    const [used, dead] = [socket('used'), socket('dead')];
    const server = createServer().listen(used);
    const die = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', die, dead]);
    assert.equal([existsSync(used), existsSync(dead)], [true, true]);
    assert.match((await doctor('--clean')).checks.leftovers.problem ?? '', /removed \d+ sockets of agents that have/);
    assert.equal([existsSync(used), existsSync(dead)], [true, false]);
    server.close();
  });

  check('without --host it is this machine, found without a login', async () => {
    await hosts.runOn('h1', ['sh', '-c', 'STCI_TOOL_MARK=old-1-0. setsid sleep 607 >/dev/null 2>&1 &']);
    const said = await hosts.runOn('h1', [process.execPath, bin('stci'), 'doctor', '--json', '--clean']);
    const { usable, checks } = JSON.parse(said).hosts[0] as Found;
    assert.ok(usable, said);
    assert.match(checks.leftovers.problem ?? '', /\d {2}sleep 607/);
    assert.equal(running('sleep 607'), []);
  });

  check('a daemon without an environment is known by its limit; a job that runs keeps its own', async () => {
    const job = new Job('setsid sleep 604 & echo up; sleep 605');
    await job.up();
    const limit = `$((${MARK_TAG} << ${TAG_SHIFT} | 0x1234fffff))`;
    const orphan = `ulimit -S -w ${limit}; setsid env -i sleep 606 >/dev/null 2>&1 &`;
    await hosts.runOn('h1', ['sh', '-c', orphan]);
    const { checks } = await doctor('--clean');
    assert.equal(checks.leftovers.text, 'ended 1', checks.leftovers.problem ?? '');
    assert.equal(['604', '605', '606'].map((time) => running(`sleep ${time}`).length > 0), [true, true, false]);
    job.child.kill('SIGTERM');
    await eventually(() => job.code !== undefined, { deadlineMs: 20_000, what: 'the end of stcirun' });
    assert.equal(running('sleep 60'), []);
  });

  check('spared: what merely looks like ours, and a job whose stcirun has another name', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-doctor-'));
    const prun = join(directory, 'prun');
    symlinkSync(bin('stcirun'), prun);
    const inline = '--launcher local --host a --mca launcher.root.method=inline';
    const tail = join(bin('stcirun'), '../../dist/bundle/agent.cjs');
    const lines = [
      // An administrator's limit; an agent's file that is read; a variable of somebody else's.
      'ulimit -S -w 10000000; setsid sleep 608', `setsid tail -f '${tail}'`, 'STCI_TOOL_MARK=x.y setsid sleep 609',
      `setsid '${process.execPath}' '${prun}' ${inline} -n 2 -- sleep 610`,
    ];
    try {
      await hosts.runOn('h1', ['sh', '-c', lines.map((line) => `(${line}) </dev/null >/dev/null 2>&1 &`).join('\n')]);
      // Whole command lines: a shell that is about to become one of them has all of them in its own.
      const isThere = (): boolean => {
        const commands = hosts.processes('h1').map(({ command }) => command);
        const count = (line: string): number => commands.filter((command) => command === line).length;
        return ['sleep 608', `tail -f ${tail}`, 'sleep 609', 'sleep 610'].map(count).join(' ') === '1 1 1 2';
      };
      await eventually(isThere, { deadlineMs: 20_000, what: 'them and the ranks of prun' });
      const { checks } = await doctor('--clean');
      assert.equal([checks.leftovers.text.slice(0, 4), isThere()], ['none', true], checks.leftovers.problem ?? '');
    } finally {
      killThose(['prun', 'sleep 60', 'tail -f'].flatMap(running), 'SIGTERM');
      rmSync(directory, { recursive: true });
    }
    await eventually(() => running('prun').length === 0, { deadlineMs: 20_000, what: 'the end of prun' });
  });
});
