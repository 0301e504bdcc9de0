/**
 * The shell that becomes an agent: descriptors that it opens, Node taking them over, and shells that cannot open any.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { START_SCRIPT } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { closeEnds, PipeMaker } from '../dist/processes/pipe-maker.js';
import { PipePool } from '../dist/processes/pipe-pool.js';
import { createLog } from '../dist/system/log.js';

const HELD = fileURLToPath(new URL('fixtures/held.js', import.meta.url));
const BASH = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path));
const SHELLS = ['/bin/sh', '/bin/dash', ...(BASH === undefined ? [] : [BASH])].filter((path) => existsSync(path));

/** What bash before 5.1 does: a here-document is a file. */
const AS_FILES = { BASH_COMPAT: '50' };

interface Told {
  readonly held: string;
  readonly guardian: number;
  readonly pipes: number;
  readonly tool: { readonly stdout: string; readonly status: number };
}

function start(shell: string, more: Readonly<Record<string, string>> = {}): ChildProcess {
  const text = `run() { exec '${process.execPath}' '${HELD}' "$1"; }\n${START_SCRIPT}\nhold`;
  return spawn(shell, ['-c', text], { env: { PATH: process.env['PATH'] ?? '', ...more }, stdio: 'pipe' });
}

async function told(child: ChildProcess): Promise<Told> {
  let out = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  await eventually(() => out.endsWith('\n') || child.exitCode !== null, { what: 'what the process tells' });
  return JSON.parse(out) as Told;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

suite('a shell that becomes an agent', (test) => {
  for (const shell of SHELLS) {
    test(`${shell} holds a guardian and a tool's pipes, and none of them longer than the agent`, async () => {
      const child = start(shell);
      const { held, guardian, pipes, tool } = await told(child);
      assert.match(held, /^8 4 \d+ 5 6 7$/);
      assert.equal([guardian, pipes], [Number(held.split(' ')[2]), 3]);
      assert.equal(tool, { stdout: 'in', status: 0 });
      assert.ok(isAlive(guardian));
      child.kill('SIGKILL');
      await eventually(() => !isAlive(guardian), { what: 'the end of the guardian' });
    });
  }

  const why = BASH === undefined ? 'there is no bash' : '';
  test.skipIf(why !== '', why, 'one whose here-documents are files holds nothing, and the agent does it', async () => {
    const child = start(BASH as string, AS_FILES);
    const { held, guardian, pipes, tool } = await told(child);
    assert.equal([held, pipes, tool], ['', 0, { stdout: 'in', status: 0 }]);
    assert.ok(isAlive(guardian));
    child.kill('SIGKILL');
    await eventually(() => !isAlive(guardian), { what: 'the end of the guardian' });
  });

  test('a held guardian that is killed is replaced', async () => {
    const child = start('/bin/sh');
    const { guardian } = await told(child);
    let err = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
    process.kill(guardian, 'SIGKILL');
    await eventually(() => err.includes('was killed. Started again'), { what: 'the warning' });
    child.kill('SIGKILL');
  });
});

suite('pipes where here-documents are files', (test) => {
  const directory = mkdtempSync(join(tmpdir(), 'stci-old-bash-'));
  const shell = join(directory, 'sh');
  writeFileSync(shell, `#!${BASH}\nBASH_COMPAT=50 exec ${BASH} --posix "$@"\n`);
  chmodSync(shell, 0o755);
  test.after(() => rmSync(directory, { recursive: true, force: true }));

  const why = BASH === undefined ? 'there is no bash' : '';
  test.skipIf(why !== '', why, 'are named pipes that have lost their names', () => {
    const logged: string[] = [];
    const pool = new PipePool(createLog('debug', (line) => logged.push(line)), shell);
    const pipe = pool.take();
    assert.ok(pipe !== undefined && logged.length === 0, logged.join());
    assert.ok(pool.size > 0);
    pool.drain();
    assert.is(new PipeMaker(shell, 3).take().length, 3);
  });

  test.skipIf(why !== '', why, 'are not made where another user could put others in their place', () => {
    const { XDG_RUNTIME_DIR, TMPDIR } = process.env;
    const open = join(directory, 'open');
    const noting = join(directory, 'noting');
    mkdirSync(open);
    chmodSync(open, 0o777);
    writeFileSync(noting, `#!/bin/sh\necho "$*" >>${noting}.args\nexec ${shell} "$@"\n`, { mode: 0o755 });
    Object.assign(process.env, { XDG_RUNTIME_DIR: open, TMPDIR: open });
    try {
      for (const pipe of new PipeMaker(noting, 2).take()) closeEnds(pipe);
    } finally {
      for (const [name, value] of Object.entries({ XDG_RUNTIME_DIR, TMPDIR })) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
    const asked = readFileSync(`${noting}.args`, 'utf8');
    assert.ok(asked.includes('mkfifo') && !asked.includes(open), asked);
  });
});
