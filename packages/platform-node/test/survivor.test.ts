/**
 * An agent that chooses to go on when its parent is killed keeps its tools and its guardian, and can be reached. The
 * parent's guardian, which ends the parent's tools, spares it.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createNodePlatform, START_SCRIPT } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { Recorder } from '@stci/testkit/compliance';

const file = (name: string): string => fileURLToPath(new URL(`fixtures/${name}.js`, import.meta.url));

/** `program` of the fixtures, with a guardian and a mark that the shell before it made, and with those of its own. */
const WAYS = {
  'behind a shell': (program: string, ...args: string[]) => ['/bin/sh', '-c',
    `run() { exec '${process.execPath}' '${file(program)}' "$@"; }\n${START_SCRIPT}\nhold "$@"`, 'sh', ...args],
  alone: (program: string, ...args: string[]) => [process.execPath, file(program), '', ...args],
};

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

suite('an agent whose parent is killed', (test) => {
  for (const [name, way] of Object.entries(WAYS)) {
    test(`${name}: goes on with its tools, signals or not, and its guardian ends them after it`, async () => {
      const [program = '', ...args] = way('parent', ...way('survivor'));
      const parent = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let told = '';
      parent.stdout.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
      await eventually(() => told.endsWith('\n'), { what: 'the agent' });
      const { pid, path, error } = JSON.parse(told) as { pid: number; path: string; error?: string };
      assert.is(error, undefined);
      const listed = `/proc/${parent.pid}/task/${parent.pid}/children`;
      const children = readFileSync(listed, 'latin1').trim().split(' ').map(Number);
      const others = children.filter((child) => child !== pid);
      parent.kill('SIGKILL');
      await once(parent, 'exit');
      await eventually(() => !others.some(isRunning), { what: 'the end of its tool and its guardian' });
      assert.ok(others.length >= 2 && isRunning(pid), `${others.length} others`);

      const peer = createNodePlatform().network.connectPrivate(path, 3000);
      const recorder = new Recorder(peer);
      const facts = async (): Promise<{ isAlone: boolean; tools: number; first: number; fds: string[] }> => {
        const from = recorder.text.length;
        peer.send([Uint8Array.of(1)]);
        await eventually(() => recorder.text.slice(from).endsWith('\n') || recorder.closed, { what: 'its answer' });
        return JSON.parse(recorder.text.slice(from)) as Awaited<ReturnType<typeof facts>>;
      };
      await eventually(async () => (await facts()).isAlone, { what: 'that it knows' });
      for (const signal of ['SIGHUP', 'SIGPIPE'] as const) process.kill(pid, signal);
      const after = await facts();
      assert.equal([after.tools, after.fds], [1, ['/dev/null', '/dev/null', '/dev/null']]);
      assert.ok(isRunning(after.first));
      process.kill(pid, 'SIGKILL');
      await eventually(() => !isRunning(pid) && !isRunning(after.first), { what: 'the end of its tools' });
      peer.destroy('done');
    });
  }
});
