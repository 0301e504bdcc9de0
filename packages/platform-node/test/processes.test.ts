/** Tools as real processes: the compliance suite, and what only a real system can get wrong. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorRecord, ProcessEnd, SpawnSpec } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, processesCompliance, suite } from '@stci/testkit';
import type { TestProgram, Until } from '@stci/testkit';

const until: Until = async (condition, what) => void (await eventually(condition, { what }));
const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
const sh = (script: string): TestProgram => ({ program: 'sh', args: ['-c', script] });

processesCompliance('platform-node', () => ({
  processes: createNodePlatform().processes,
  until,
  env,
  programs: {
    speaks: sh('printf out; printf err >&2; exit 3'),
    copies: { program: 'cat', args: [] },
    waits: sh('printf ready; exec sleep 60'),
    ignoresTerm: sh('trap "" TERM; printf ready; exec sleep 60'),
    leaves: sh('sleep 60 >/dev/null 2>&1 & printf ready'),
    deaf: sh('exec <&-; printf ready; exec sleep 60'),
    floods: { program: 'head', args: ['-c', '1000000', '/dev/zero'] },
    missing: { program: 'no-such-program-here', args: [] },
  },
  missingWdir: '/no/such/directory',
}));

interface Outcome {
  readonly error?: ErrorRecord;
  readonly end?: ProcessEnd;
  readonly text: string;
}

/** Runs a program to its end. */
async function run(options: Partial<SpawnSpec>): Promise<Outcome> {
  let [error, end, text, open] = [undefined as ErrorRecord | undefined, undefined as ProcessEnd | undefined, '', 2];
  const base: SpawnSpec = {
    program: 'sh', args: [], env, stdin: 'null', stdout: 'pipe', stderr: 'pipe', lifetime: 'guarded',
  };
  const tool = createNodePlatform().processes.spawn({ ...base, ...options }, {
    onError: (told) => (error = told),
    onOutput: (_stream, chunk) => (text += Buffer.from(chunk).toString()),
    onOutputEnd: () => open--,
    onStdinDrain: () => {},
    onStdinClosed: () => {},
    onExit: (told) => (end = told),
  });
  tool.readable(true);
  await until(() => error !== undefined || (end !== undefined && open === 0), 'the end of the program');
  return { text, ...(error !== undefined && { error }), ...(end !== undefined && { end }) };
}

suite('tools of platform-node', (test) => {
  const wdir = mkdtempSync(join(tmpdir(), 'stci-processes-'));
  const file = (name: string, text: string, mode: number): void => {
    writeFileSync(join(wdir, name), text);
    chmodSync(join(wdir, name), mode);
  };
  test.before(() => {
    file('here', '#!/bin/sh\necho "$0" "$1"\n', 0o755);
    file('plain', 'no program\n', 0o644);
    file('lost', '#!/no/interpreter -x\n', 0o755);
    file('dos', '#!/bin/sh\r\n', 0o755);
  });
  test.after(() => rmSync(wdir, { recursive: true }));

  const refused: [string, Partial<SpawnSpec>, string, RegExp][] = [
    ['a name that is only in the working directory', { program: 'here' }, 'NOT_FOUND', /PATH=.*did you mean \.\/here/s],
    ['a path without a file', { program: './gone' }, 'NOT_FOUND', /'\.\/gone' not found: there is no file .*\/gone/],
    ['an empty name', { program: '' }, 'NOT_FOUND', /empty/],
    ['a file that is not executable', { program: './plain' }, 'NOT_EXECUTABLE', /plain is not executable.*chmod/],
    ['the same by PATH', { program: 'plain', env: { PATH: '.' } }, 'NOT_EXECUTABLE', /plain is not executable/],
    ['a directory', { program: '/tmp' }, 'NOT_EXECUTABLE', /\/tmp is a directory/],
    ['a missing interpreter', { program: './lost' }, 'NOT_EXECUTABLE', /'\/no\/interpreter', which does not exist/],
    ['an interpreter with a DOS line end', { program: './dos' }, 'NOT_EXECUTABLE', /'\/bin\/sh\\r'/],
    ['an argument that is too long', { args: ['x'.repeat(200_000)] }, 'NOT_EXECUTABLE', /too long/],
    ['a zero byte in an argument', { args: ['a\0b'] }, 'NOT_EXECUTABLE', /zero byte/],
    ['a file as working directory', { wdir: '/etc/passwd' }, 'WDIR', /'\/etc\/passwd' is not a directory/],
  ];
  for (const [what, options, code, message] of refused) {
    test(`refuses ${what}`, async () => {
      const { error, end } = await run({ wdir, ...options });
      assert.equal([error?.code, end], [`STCI_PROGRAM_${code}`, undefined]);
      assert.match(error?.message ?? '', message);
    });
  }

  test('finds a program by the PATH of the child, relative to its working directory', async () => {
    assert.is((await run({ program: 'here', args: ['a'], wdir, env: { PATH: '/nowhere::' } })).text, './here a\n');
    assert.is((await run({ program: './here', args: ['b c'], wdir })).text, './here b c\n');
  });

  test('a tool gets its own environment, session and three descriptors, nothing of ours', async () => {
    const bare = await run({ args: ['-c', 'ls /proc/$$/fd'] });
    const before = new Set(bare.text.split('\n'));
    const args = ['-c', 'env; ls /proc/$$/fd; cut -d" " -f1,5,6 /proc/$$/stat'];
    const { text } = await run({ args, env: { ...env, A: '1' } });
    const lines = text.trim().split('\n');
    assert.ok(lines.includes('A=1'));
    assert.ok(!lines.some((line) => line.startsWith('HOME=')));
    const [pid, group, session] = (lines.at(-1) as string).split(' ');
    assert.equal([group, session], [pid, pid]);
    // The runner of these tests may hand down descriptors; a second guardian and its pipe may not add any.
    const descriptors = lines.filter((line) => /^\d+$/.test(line));
    assert.ok(descriptors.every((fd) => before.has(fd)), `descriptors ${descriptors.join(' ')}`);
  });
});
