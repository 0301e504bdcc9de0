/** The benches of bench/ still run, on few runs; what they measure is nobody's test. */
// @timeoutMs 180000

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, skip, suite } from '@stci/testkit';
import { whyNoHosts, whyNoSlurm } from '@stci/testkit/hosts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = join(ROOT, 'bench/main.mjs');
const NAMES = ['start', 'memory', 'run', 'output', 'forward', 'simulate'];

function bench(names: readonly string[]): Promise<{ status: number; text: string }> {
  const env = { ...process.env, BENCH_SMOKE: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...names], { env }, (error, stdout, stderr) => {
      resolve({ status: Number(error?.code ?? 0), text: stdout + stderr });
    });
  });
}

suite('benches', (test) => {
  test('the modules that they load are there, also those that are loaded late', () => {
    const files = readdirSync(join(ROOT, 'bench'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.mjs'));
    const loaded = files.flatMap((name) => {
      const text = readFileSync(join(ROOT, 'bench', name), 'utf8');
      return [...text.matchAll(/\bbuilt\('([\w-]+)', '([^']+)'\)/g)].map(([, owner = '', path = '']) =>
        join('packages', owner, 'dist', path));
    });
    assert.ok(loaded.length > 20, `${loaded.length} modules`);
    assert.equal(loaded.filter((path) => !existsSync(join(ROOT, path))), []);
  });

  test('each runs to its end', async () => {
    const { status, text } = await bench([]);
    assert.is(status, 0, text);
    for (const name of NAMES) assert.match(text, new RegExp(`^${name}$`, 'm'));
  }, { timeoutMs: 60_000 });

  test('that of failures runs each of its parts', async () => {
    const { status, text } = await bench(['failure', '--part', 'silent,noise', '--part', 'false,lag']);
    assert.is(status, 0, text);
    for (const part of ['silent', 'noise', 'false', 'lag']) assert.match(text, new RegExp(`^failure, ${part}$`, 'm'));
    assert.ok(!/Infinity|NaN|undefined/.test(text), text);
  }, { timeoutMs: 120_000 });

  const why = whyNoHosts() ?? whyNoSlurm();
  test.skipIf(why !== undefined, why ?? '', 'that of Slurm runs all launchers', async () => {
    const { status, text } = await bench(['slurm']);
    assert.is(status, 0, text);
    if (text.includes('left out: no writable control groups')) return skip('control groups are not writable here');
    for (const name of ['srun', 'srun, bare Node a host']) assert.is(text.split(`| ${name} |`).length, 3, text);
    assert.ok(!/Infinity|NaN|undefined/.test(text), text);
  }, { timeoutMs: 120_000 });

  test('options of another one and unknown parts are refused', async () => {
    const wrong = await bench(['failure', '--part', 'loud']);
    assert.is(wrong.status, 2);
    assert.match(wrong.text, /failure has no part loud; expected some of tool, silent/);
    const other = await bench(['run', '--long']);
    assert.is(other.status, 2);
    assert.match(other.text, /--part and --long are options of failure alone/);
  });

  test('an unknown one is refused', async () => {
    const { status, text } = await bench(['sart']);
    assert.is(status, 2);
    assert.match(text, /no bench sart; expected some of start, memory/);
  });
});
