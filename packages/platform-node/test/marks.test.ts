/** Processes left over by tools are found by two marks; a clean end searches for none; no mark is in an argument. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { MARK_FUNCTION } from '../dist/process-mark.js';

const SWEEPER = fileURLToPath(new URL('fixtures/sweeper.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'stci-marks-'));
let rounds = 0;

interface Sweeper {
  readonly child: ChildProcess;
  readonly round: string;
  /** A `grep` in front of the real one writes here how it was called. */
  readonly calls: string;
}

/** Through a shell that marks it, as agents are started. */
function sweeper(line: string, ...more: string[]): Sweeper {
  const round = `stci-marks-${process.pid}-${++rounds}`;
  const script = `${MARK_FUNCTION}\nstci_mark; exec "$@"`;
  const args = ['-c', script, 'sh', process.execPath, SWEEPER, line, round, ...more];
  const directory = join(root, round);
  const calls = join(directory, 'calls');
  mkdirSync(directory);
  const grep = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${calls}'\nPATH=/usr/bin:/bin exec grep "$@"\n`;
  writeFileSync(join(directory, 'grep'), grep, { mode: 0o755 });
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  return { child: spawn('/bin/sh', args, { env, stdio: ['ignore', 'pipe', 'inherit'] }), round, calls };
}

async function ended({ child }: Sweeper): Promise<string> {
  const [text] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return String(text).trim();
}

/** Living processes whose command line ends in `round`: daemons of that round. */
function daemons(round: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`:\0${round}`);
    } catch {
      return false;
    }
  });
}

const CLEARED = 'setsid env -i /bin/sh -c "sleep 300; :" "$0" </dev/null >/dev/null 2>&1 &';
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

  test('after a clean end the guardian looks for nothing', async () => {
    const started = sweeper('exit 0', 'stay');
    assert.is(await ended(started), '0');
    const guardian = await eventually(() => childrenOf(started.child.pid).at(-1), { what: 'the guardian' });
    started.child.kill('SIGKILL');
    await eventually(() => !existsSync(`/proc/${guardian}`), { what: 'the end of the guardian' });
    assert.not(existsSync(started.calls));
  }, { timeoutMs: 10_000 });

  test.after(() => rmSync(root, { recursive: true, force: true }));
});

function childrenOf(parent: number | undefined): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      return /^\d+$/.test(pid) && stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(parent);
    } catch {
      return false;
    }
  });
}
