/**
 * No orphans: however and whenever a process is killed, its tools and all their descendants are gone soon after, and so
 * is the guardian. Seeded; `STCI_SEED` repeats a run.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { createRandom } from '../dist/system/random.js';

const ROUNDS = 30;
const DOOMED = fileURLToPath(new URL('fixtures/doomed.js', import.meta.url));
const seed = Number(process.env['STCI_SEED'] ?? Date.now() % 1e9);
const random = createRandom(seed);

/** `PID COMMAND` of all living processes that carry `text` in their environment or command line. */
function carriers(text: string): string[] {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => (read(`/proc/${pid}/environ`) + read(`/proc/${pid}/cmdline`)).includes(text))
    .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 60)}`);
}

/** By PATH the guardian carries the text too. */
const roundEnv = (round: string) => ({ STCI_TEST_ROUND: round, PATH: `${process.env['PATH']}:/${round}` });

function startDoomed(round: string, more: NodeJS.ProcessEnv = {}): ChildProcess {
  const env: NodeJS.ProcessEnv = { ...process.env, ...roundEnv(round), ...more };
  delete env['NODE_EXTRA_CA_CERTS'];
  return spawn(process.execPath, [DOOMED], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

const allGone = (round: string) =>
  eventually(() => {
    const left = carriers(round);
    if (left.length > 0) throw new Error(`left over (seed ${seed}):\n${left.join('\n')}`);
    return true;
  }, { what: 'no process of the round is left', deadlineMs: 5000, everyMs: 20 });

suite('guardian', (test) => {
  test(`nothing is left after kill -9 at ${ROUNDS} random moments`, async () => {
    for (let i = 0; i < ROUNDS; i++) {
      const round = `stci-round-${process.pid}-${i}`;
      const child = startDoomed(round);
      const exited = once(child, 'exit');
      const delayMs = random.integer(150);
      if (random.integer(4) === 0) await once(child.stdout as NodeJS.ReadableStream, 'data');
      // eslint-disable-next-line no-restricted-syntax -- a kill at any moment
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      child.kill('SIGKILL');
      await exited;
      await allGone(round);
    }
  }, { timeoutMs: 60_000 });

  test('nothing is left after an end in order', async () => {
    const round = `stci-end-${process.pid}`;
    await once(startDoomed(round, { STCI_TEST_END: '1' }), 'exit');
    await allGone(round);
  }, { timeoutMs: 10_000 });

  test('a killed guardian is replaced, and the new one knows all tools', async () => {
    const round = `stci-replaced-${process.pid}`;
    const child = startDoomed(round);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    const guardian = (): number => Number(carriers(round).find((line) => line.includes('/bin/sh -c'))?.split(' ')[0]);
    const first = await eventually(guardian, { what: 'the guardian' });
    process.kill(first, 'SIGKILL');
    const [warning] = (await once(child.stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
    assert.match(String(warning), /guardian .* was killed. Started again/);
    assert.ok(guardian() > 0 && guardian() !== first);
    child.kill('SIGKILL');
    await allGone(round);
  }, { timeoutMs: 10_000 });

  test('the tools of a killed agent thread end', async () => {
    const round = `stci-thread-${process.pid}`;
    const before = { ...process.env };
    Object.assign(process.env, roundEnv(round));
    const failed: string[] = [];
    const { processes } = createNodePlatform({ agentMain: new URL('fixtures/doomed.js', import.meta.url) });
    const agent = processes.spawnAgent('thread', [], {
      onError: (error) => failed.push(error.message),
      onDiagnostic: (line) => failed.push(line),
      onExit: ({ signal }) => failed.push(`ended by ${signal}`),
    });
    process.env = before;
    let closed = '';
    agent.channel.bind({ onData: () => {}, onDrain: () => {}, onClose: (reason) => (closed = reason) });
    await eventually(() => carriers(round).length > 5, { what: 'tools of the thread' });
    assert.equal(failed, []);
    agent.kill();
    await allGone(round);
    await eventually(() => closed !== '' && failed.length > 0, { what: 'the exit and the end of the channel' });
    assert.equal([closed, failed], ['end of file', ['ended by SIGKILL']]);
  }, { timeoutMs: 10_000 });
});
