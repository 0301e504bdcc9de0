/** Tools that are bound to processors: what the system says of them, and of its own files. */

import { spawnSync } from 'node:child_process';
import type { SpawnSpec } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';

const platform = createNodePlatform();
const status = platform.env.systemText('/proc/self/status') ?? '';
const first = /^Cpus_allowed_list:\t(\d+)/mu.exec(status)?.[1] ?? 'none';

/** What a program prints, and the id of the process that was started for it. */
async function run(line: string, bound: Pick<SpawnSpec, 'cpus' | 'nodes'>) {
  let [text, ended, open] = ['', false, 2];
  const tool = platform.processes.spawn({
    program: 'sh', args: ['-c', line], env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdin: 'null', stdout: 'pipe', stderr: 'pipe', lifetime: 'guarded', ...bound,
  }, {
    onError: (error) => assert.unreachable(error.message),
    onOutput: (_stream, chunk) => (text += Buffer.from(chunk).toString()),
    onOutputEnd: () => (open -= 1), onStdinDrain: () => undefined, onStdinClosed: () => undefined,
    onExit: () => (ended = true),
  });
  tool.readable(true);
  await eventually(() => ended && open === 0, { what: 'the end of the program' });
  return { text, pid: tool.pid };
}

suite('bound tools of platform-node', (test) => {
  test('files of the system are read, of those that are there', () => {
    assert.match(status, /^Name:/u);
    assert.is(platform.env.systemText('/sys/no/such/file'), undefined);
    assert.is(platform.env.systemText('/proc'), undefined);
  });

  const BOUND = 'echo $$ $0; sed -n "s/^Cpus_allowed_list:\\t//p" /proc/$$/status';
  test('a tool runs where it may, as the process that was started', async () => {
    const { text, pid } = await run(BOUND, { cpus: first });
    assert.is(text, `${pid} sh\n${first}\n`);
  });

  const cannot = spawnSync('numactl', ['--localalloc', '--', 'true']).status !== 0;
  test.skipIf(cannot, 'numactl is not here, or not allowed', 'with nodes its memory is local, by numactl', async () => {
    const policy = 'read -r _ policy _ </proc/$$/numa_maps; echo $policy';
    const { text, pid } = await run(`${BOUND}; ${policy}`, { cpus: first, nodes: '0' });
    assert.is(text, `${pid} sh\n${first}\nlocal\n`);
    assert.is((await run(policy, { cpus: first })).text, 'default\n');
  });
});
