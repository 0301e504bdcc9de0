/** Commands of checks on this machine: their result, bounds, and end. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, patient, suite } from '@stci/testkit';
import { CheckCommands } from '../dist/check-commands.js';

const commands = new CheckCommands(createNodePlatform());

function check(text: string, timeoutMs = patient(20_000)): Promise<readonly [boolean, string]> {
  return new Promise((resolve) => {
    commands.run({ command: ['sh', '-c', text], timeoutMs }, (isPassed, said) => resolve([isPassed, said]));
  });
}

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /u.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

async function checkGone(file: string): Promise<void> {
  const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number);
  assert.is(pids.length, 2);
  await eventually(() => !pids.some(isAlive), { deadlineMs: 10_000, what: 'the end of the group' });
}

suite('commands of checks', (test) => {
  test('what it says, and how it ends', async () => {
    assert.equal(await check('echo good; echo bad >&2'), [true, 'ended with 0: good\nbad']);
    assert.equal(await check('exit 3'), [false, 'ended with 3']);
    assert.equal(await check('kill -TERM $$'), [false, 'ended by SIGTERM']);
    const [isPassed, text] = await check('yes abcdefghi | head -c 1000000; echo end');
    assert.equal([isPassed, text.length < 4100], [true, true]);
    const none = await new Promise((resolve) => {
      commands.run({ command: ['/nowhere/program'], timeoutMs: 1000 },
        (...result) => resolve(result));
    });
    assert.match(String(none), /^false,.*\/nowhere\/program/u);
  });

  test('a process in the background that keeps its output open is not waited for', async () => {
    const [isPassed, text] = await check('echo said; sleep 300 & echo $!');
    assert.match(text, /^ended with 0: said\n\d+$/u);
    assert.is(isPassed, true);
    process.kill(Number(text.split('\n')[1]), 'SIGKILL');
  });

  test('at its time-out, and at the end of the repeat, it ends with all that it has started', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'commands-'));
    try {
      const file = join(directory, 'pids');
      const text = `sleep 300 & echo $! > ${file}.new; echo $$ >> ${file}.new; mv ${file}.new ${file}; wait`;
      assert.equal(await check(text, patient(1000)), [false, `it did not end within ${patient(1000)} ms`]);
      await checkGone(file);
      rmSync(file);
      const result = check(text);
      const exists = (): boolean => {
        try {
          return readFileSync(file).length > 0;
        } catch {
          return false;
        }
      };
      await eventually(exists, { deadlineMs: 10_000, what: 'two processes' });
      commands.end();
      assert.equal(await result, [false, 'ended by SIGKILL']);
      await checkGone(file);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }, { timeoutMs: 40_000 });
});
