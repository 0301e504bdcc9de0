/** Tools as real processes: the compliance suite, and errors that only a real system has. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorRecord, ProcessEnd, SpawnSpec } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { processesCompliance } from '@stci/testkit/compliance';
import type { TestProgram, Until } from '@stci/testkit/compliance';
import { groupSize, isOfThisUser } from '../dist/processes/proc.js';

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
  test('a process that has ended is nobody\'s', () => {
    assert.ok(isOfThisUser(String(process.pid)));
    assert.is(isOfThisUser('4194305'), false);
  });

  test('what was begun in the turn that sees an end goes before it is told', async () => {
    const told: string[] = [];
    const base = { env, stdin: 'null', stdout: 'null', stderr: 'null', lifetime: 'plain' } as const;
    const { processes } = createNodePlatform();
    // From a timer the turn goes on to look for ends, of which there is one then, and after that to what was begun.
    setTimeout(() => {
      const { pid } = processes.spawn({ ...base, program: 'true', args: [] }, {
        onError: ({ message }) => told.push(message),
        onOutput: () => {},
        onOutputEnd: () => {},
        onStdinDrain: () => {},
        onStdinClosed: () => {},
        onExit: () => told.push('end'),
      });
      while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));
      setImmediate(() => told.push('begun'));
    });
    await until(() => told.length === 2, 'the end of the program');
    assert.equal(told, ['begun', 'end']);
  });

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
    ['a name that is only in the working directory', { program: 'here' }, 'NOT_FOUND',
      /not on PATH of this host.*did you mean \.\/here/],
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

  test('apart: in a session of its own, without a mark of ours; plain: in our session', async () => {
    const script = 'read -r a b c d e session rest </proc/$$/stat; echo $((session == $$)) ${STCI_GUARD+marked}';
    const sessionOf = async (lifetime: SpawnSpec['lifetime']): Promise<string> =>
      (await run({ args: ['-c', script], lifetime, env: { PATH: process.env['PATH'] ?? '' } })).text;
    assert.equal([await sessionOf('apart'), await sessionOf('plain')], ['1\n', '0\n']);
    assert.is(await sessionOf('guarded'), '1 marked\n');
  });

  test('what is left of a group is counted: the living, of our session', async () => {
    let [end, text] = [undefined as ProcessEnd | undefined, ''];
    // One child is dead and stays so, since its parent, which has become `sleep`, never asks for it.
    const left = 'sleep 60 & sleep 60 & sh -c "exit 0 & exec sleep 60" & setsid sleep 60 & echo $!; exit 0';
    const tool = createNodePlatform().processes.spawn({
      program: 'sh', args: ['-c', `{ ${left}; } 2>/dev/null`], env,
      stdin: 'null', stdout: 'pipe', stderr: 'null', lifetime: 'guarded',
    }, {
      onError: () => {}, onOutputEnd: () => {}, onStdinDrain: () => {}, onStdinClosed: () => {},
      onOutput: (_stream, chunk) => (text += Buffer.from(chunk).toString()),
      onExit: (told) => (end = told),
    });
    tool.readable(true);
    await until(() => end !== undefined && text !== '', 'the end of the leader');
    await until(() => tool.groupSize() === 3, 'three are left');
    assert.ok(tool.signal('SIGKILL', 'group'));
    await until(() => tool.groupSize() === 0, 'none is left');
    assert.is(tool.signal('SIGKILL', 'group'), false);
    process.kill(Number(text), 'SIGKILL');
  });

  test('a group of a strange session, or with a leader after ours, is not ours', async () => {
    // A process with a group of its own in our session, as a stranger is that was given the number of a tool's group.
    const stranger = spawn('bash', ['-c', 'set -m; sleep 60 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [pid] = (await once(stranger.stdout, 'data')) as [Buffer];
    const group = Number(pid);
    await until(() => readFileSync(`/proc/${group}/stat`, 'latin1').split(' ')[4] === String(group), 'its group');
    assert.equal([groupSize(group, false), groupSize(group, true)], [0, 0]);
    process.kill(group, 'SIGKILL');
    const script = 'sleep 60 & echo; wait';
    const leader = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    await once(leader.stdout, 'data');
    const number = leader.pid as number;
    assert.equal([groupSize(number, false), groupSize(number, true)], [2, 0]);
    leader.kill('SIGKILL');
    await once(leader, 'exit');
    assert.equal([groupSize(number, true)], [1]);
    process.kill(-number, 'SIGKILL');
    await until(() => groupSize(number, true) === 0, 'nobody is left');
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

  test('output is an input before which timers that cannot wait are heeded', async () => {
    const { processes, clock } = createNodePlatform();
    const log: string[] = [];
    const spin = (ms: number): void => {
      for (const untilMs = clock.nowMs() + ms; clock.nowMs() < untilMs;);
    };
    let readyCount = 0;
    const directory = mkdtempSync(join(tmpdir(), 'stci-overdue-'));
    const files = [0, 1].map((i) => join(directory, String(i)));
    const tools = files.map((path) => {
      const tool = processes.spawn({
        program: 'sh', args: ['-c', 'printf r; read x; printf b; : >"$0"', path], env,
        stdin: 'pipe', stdout: 'pipe', stderr: 'null', lifetime: 'guarded',
      }, {
        onError: () => {}, onStdinDrain: () => {}, onStdinClosed: () => {}, onOutputEnd: () => {}, onExit: () => {},
        onOutput: (_stream, chunk) => {
          if (String(Buffer.from(chunk)) === 'r') return void readyCount++;
          if (log.push('b') === 1) clock.after(10, () => log.push('fired'), () => log.push('overdue'));
          spin(250);
        },
      });
      tool.readable(true);
      return tool;
    });
    await until(() => readyCount === 2, 'both run');
    for (const tool of tools) {
      tool.readable(false);
      tool.writeStdin(Buffer.from('\n'));
    }
    await until(() => files.every((path) => existsSync(path)), 'both have written');
    rmSync(directory, { recursive: true });
    for (const tool of tools) tool.readable(true);
    await until(() => log.includes('fired'), 'the timer');
    assert.equal(log, ['b', 'overdue', 'b', 'fired']);
  });
});
