/** Memory that an agent in this process has read output into: used again once the output is written, never before. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { fakeRun, type FakeRun } from './fake-front-end.js';

const { processes } = createNodePlatform();
const directory = mkdtempSync(join(tmpdir(), 'stci-open-sink-'));
/** At least two chunks are long, however late they are read. */
const LONG = 'yes | dd bs=40000 iflag=fullblock count=3 2>/dev/null';

/** Long chunks, as a tool's output comes. */
async function long(): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let ends = 0;
  const tool = processes.spawn(
    {
      program: 'sh', args: ['-c', LONG], env: { PATH: process.env['PATH'] ?? '' },
      stdin: 'null', stdout: 'pipe', stderr: 'null', lifetime: 'plain',
    },
    {
      onError: (error) => assert.unreachable(error.message),
      onOutput: (_stream, chunk) => void chunks.push(chunk),
      onOutputEnd: () => (ends += 1),
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onExit: () => (ends += 1),
    },
  );
  tool.readable(true);
  await eventually(() => ends === 2, { what: 'the end of the tool' });
  return chunks.filter(({ length }) => length > 16_384);
}

/** Whether later output was read into the memory of `chunk`. */
async function isReadInto({ buffer }: Uint8Array): Promise<boolean> {
  const later = [...await long(), ...await long()];
  return later.some((chunk) => chunk.buffer === buffer);
}

suite('memory of output', (test) => {
  test.after(() => rmSync(directory, { recursive: true }));

  /** A chunk that a run has taken, and whether it was released. */
  async function given(options: readonly string[], holdOut = false) {
    const run: FakeRun = await fakeRun(options, 1, { holdOut });
    const [chunk] = await long() as [Uint8Array];
    const state = { run, chunk, released: 0 };
    run.frontEnd.events.onOutput(0, 'stdout', chunk, 0, () => (state.released += 1));
    return state;
  }

  async function over({ frontEnd, exitCode }: FakeRun): Promise<void> {
    frontEnd.end();
    await exitCode;
  }

  test('on the screen: not while its write is under way', async () => {
    const state = await given([], true);
    const { run, chunk } = state;
    assert.equal([run.isOutHeld(), state.released, await isReadInto(chunk)], [true, 0, false]);
    run.releaseOut();
    assert.equal([state.released, await isReadInto(chunk)], [1, true]);
    await over(run);
  });

  test('on the screen: not after the second interrupt, which leaves a write under way', async () => {
    const state = await given([], true);
    const { run, chunk } = state;
    process.emit('SIGINT');
    process.emit('SIGINT');
    assert.equal([run.isOutHeld(), state.released, await isReadInto(chunk)], [true, 1, false]);
    run.frontEnd.endAsTold();
    assert.is(await run.exitCode, 130);
  });

  for (const tee of [[], ['--tee']]) {
    test(['in a file', ...tee].join(' '), async () => {
      const file = join(directory, `out${tee.join('')}`);
      const state = await given(['--output', file, ...tee]);
      const bytes = Buffer.from(state.chunk);
      await eventually(() => state.released === 1, { what: 'the write' });
      assert.ok(await isReadInto(state.chunk));
      await over(state.run);
      assert.ok(readFileSync(file).equals(bytes));
    });
  }

  for (const form of [['--gather'], ['--json'], ['--json', '--tee', '--output', join(directory, 'json')]]) {
    test(`never what is kept until later: ${form.slice(0, 2).join(' ')}`, async () => {
      const state = await given(form);
      await eventually(() => state.released === 1, { what: 'the release' });
      assert.not(await isReadInto(state.chunk));
      await over(state.run);
    });
  }
});
