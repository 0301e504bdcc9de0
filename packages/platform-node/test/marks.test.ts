/** Processes left over by tools are found by two marks; a clean end searches for none; no mark is in an argument. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { MARK_FUNCTION } from '../dist/processes/process-mark.js';

const SWEEPER = fileURLToPath(new URL('fixtures/sweeper.js', import.meta.url));
const MARKS = new URL('../dist/processes/process-mark.js', import.meta.url).href;
const root = mkdtempSync(join(tmpdir(), 'stci-marks-'));
const children: ChildProcess[] = [];
let rounds = 0;

interface Sweeper {
  readonly child: ChildProcess;
  readonly round: string;
  /** A `grep` in front of the real one writes here how it was called. */
  readonly calls: string;
}

/** Through a shell that marks it, as agents are started. */
function sweeper(line: string, ...more: string[]): Sweeper {
  return startBy('exec "$@"', line, ...more);
}

function startBy(command: string, line: string, ...more: string[]): Sweeper {
  const round = `stci-marks-${process.pid}-${++rounds}`;
  const script = `${MARK_FUNCTION}\nstci_mark; ${command}`;
  const args = ['-c', script, 'sh', process.execPath, SWEEPER, line, round, ...more];
  const directory = join(root, round);
  const calls = join(directory, 'calls');
  mkdirSync(directory);
  const grep = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${calls}'\nPATH=/usr/bin:/bin exec grep "$@"\n`;
  writeFileSync(join(directory, 'grep'), grep, { mode: 0o755 });
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  const child = spawn('/bin/sh', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return { child, round, calls };
}

async function ended({ child }: Sweeper): Promise<string> {
  const [text] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return String(text).trim();
}

/** Living processes whose command line ends in `round`: daemons of that round. */
function daemons(round: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    return /^\d+$/.test(pid) && read(pid, 'cmdline').includes(`:\0${round}`);
  });
}

const CLEARED = 'setsid env -i /bin/sh -c "sleep 300; :" "$0" </dev/null >/dev/null 2>&1 &';
const AS_NOBODY = 'setpriv --reuid 65534 --regid 65534 --clear-groups';
const KEPT = 'setsid /bin/sh -c "sleep 300; :" "$0" </dev/null >/dev/null 2>&1 &';

suite('marks of tools', (test) => {
  test('a sweep ends daemons that kept their environment and those that cleared it, and counts them', async () => {
    for (const [line, count] of [[KEPT, '2'], [CLEARED, '2'], [`${KEPT} ${CLEARED}`, '4']] as const) {
      // It has left the group of the tool before the tool ends.
      const started = sweeper(`${line} sleep 0.2`);
      assert.is(await ended(started), count, line);
      assert.equal(daemons(started.round), []);
    }
  }, { timeoutMs: 20_000 });

  test('an agent that is killed leaves neither, and no mark is an argument of a search', async () => {
    const started = sweeper(`${KEPT} ${CLEARED} sleep 300`, 'stay');
    await eventually(() => daemons(started.round).length === 2, { what: 'both daemons' });
    started.child.kill('SIGKILL');
    await eventually(() => daemons(started.round).length === 0, { what: 'their end' });
    const calls = readFileSync(started.calls, 'utf8');
    assert.ok(calls.includes('/environ') && !/STCI_GUARD|-e/.test(calls), calls);
  }, { timeoutMs: 10_000 });

  const noRoot = process.geteuid?.() === 0 ? '' : 'needs root';
  test.skipIf(noRoot !== '', noRoot, 'who copies the public limit gets nobody else killed, nor himself', async () => {
    for (const by of ['sweep', 'guardian']) {
      const go = join(root, `go-${by}`);
      const more = by === 'sweep' ? 'exit 0' : `${AS_NOBODY} ${KEPT} sleep 300`;
      const started = sweeper(`${CLEARED} until [ -e '${go}' ]; do sleep 0.02; done; ${more}`, 'stay');
      const limitOf = () => /^Max file locks +(\d+)/m.exec(read(started.child.pid, 'limits'))?.[1] ?? '';
      const limit = await eventually(limitOf, { what: 'the limit of the agent' });
      // Another user's process in the group of a script of root. Its environment shows the limit too.
      const copy = `ulimit -S -w ${limit} 2>/dev/null || ulimit -S -x ${limit}; COPY=${limit} exec sleep 300`;
      const script = spawn('sh', ['-c', `${AS_NOBODY} sh -c '${copy}' & wait; :`], { detached: true, stdio: 'ignore' });
      const isCopy = (pid: string) => /^sleep/.test(read(pid, 'cmdline')) && read(pid, 'limits').includes(limit);
      const copier = await eventually(() => childrenOf(script.pid).find(isCopy), { what: 'the copy' });
      const isUp = () => childrenOf(daemons(started.round)[0]).length === 1;
      await eventually(isUp, { what: 'the daemon and its child' });
      writeFileSync(go, '');
      if (by === 'sweep') assert.is(await ended(started), '2');
      else await eventually(() => daemons(started.round).length === 2, { what: 'the daemon of another user' });
      const guardian = await eventually(() => guardianOf(started.child.pid), { what: 'the guardian' });
      started.child.kill('SIGKILL');
      await eventually(() => !existsSync(`/proc/${guardian}`), { what: 'the end of the guardian' });
      assert.equal([daemons(started.round), childrenOf(script.pid)], [[], [copier]], by);
      process.kill(-(script.pid as number), 'SIGKILL');
    }
  }, { timeoutMs: 20_000 });

  test('after a clean end the guardian looks for nothing', async () => {
    const started = sweeper('exit 0', 'stay');
    assert.is(await ended(started), '0');
    const guardian = await eventually(() => guardianOf(started.child.pid), { what: 'the guardian' });
    started.child.kill('SIGKILL');
    await eventually(() => !existsSync(`/proc/${guardian}`), { what: 'the end of the guardian' });
    assert.not(existsSync(started.calls));
  }, { timeoutMs: 10_000 });

  test('the guardian of an agent that runs in a tool has no mark of the agent of that tool', async () => {
    // The shell is marked as an outer agent is, and what it starts inherits that.
    const outer = startBy('"$@"; :', 'exit 0', 'stay');
    const locksOf = (pid: string | undefined): string =>
      /^Max file locks +(\d+)/m.exec(read(pid, 'limits'))?.[1] ?? '';
    const innerOf = (): string | undefined => childrenOf(outer.child.pid).find((pid) => guardianOf(pid) !== undefined);
    const inner = await eventually(innerOf, { what: 'the inner agent and its guardian' }) ?? '';
    assert.match(locksOf(inner), /^\d{6,}$/);
    await eventually(() => locksOf(guardianOf(inner)) === '0', { what: 'a guardian without that mark' });
    process.kill(Number(inner), 'SIGKILL');
  }, { timeoutMs: 10_000 });

  test("the limit is the process's own: an agent in one of its threads does not go by it", () => {
    const tell = `import('${MARKS}').then(({ ownLimit }) => console.log(typeof ownLimit()))`;
    const thread = `new (require('node:worker_threads').Worker)(${JSON.stringify(tell)}, { eval: true })`;
    const program = `${tell}.then(() => ${thread})`;
    const args = ['-c', `${MARK_FUNCTION}\nstci_mark; exec "$@"`, 'sh', process.execPath, '-e', program];
    assert.is(spawnSync('/bin/sh', args, { encoding: 'utf8' }).stdout, 'string\nundefined\n');
  });

  test.after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });
});

function guardianOf(pid: number | string | undefined): string | undefined {
  return childrenOf(pid).find((child) => read(child, 'cmdline').includes('stci-guardian'));
}

/** Empty for a process that is gone. */
function read(pid: number | string | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

function childrenOf(parent: number | string | undefined): string[] {
  return readdirSync('/proc').filter((pid) => {
    const stat = read(pid, 'stat');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(parent);
  });
}
