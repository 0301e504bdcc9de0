/**
 * The library as it is installed: packages packed as for a registry, outside of the workspace, used by a program in
 * JavaScript and one in TypeScript, both of which docs/library.md shows, and by all else that it shows.
 */
// @timeoutMs 240000
// @sameFor user: files and processes of one user; whose code may be loaded is e2e-plugin's.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { start, type Result } from './e2e.js';
import { install } from './installed.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LONG = { timeoutMs: 120_000 };

/** Programs that the document shows, each with the comment of its first line: the file's name. */
function shown(): Map<string, string> {
  const text = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
  const blocks = [...text.matchAll(/^```(?:js|ts)\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)];
  return new Map(blocks.map(([, name = '', code = '']) => [name, code]));
}

suite('library: packed', (test) => {
  let place = '';
  test.before(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-packed-')));
    install(place);
    for (const [name, code] of shown()) writeFileSync(join(place, name), code);
  }, LONG);
  test.after(() => rmSync(place, { recursive: true, force: true }), LONG);

  const run = (name: string): Promise<Result> => start([], {
    program: join(place, name), cwd: place, limitMs: 60_000,
    env: { STCI_MCA_session_directory: join(place, 'sessions') },
  }).result;

  test('nothing of the workspace is used', () => {
    const entry = join(place, 'node_modules/@stci/stcirun/dist/index.js');
    assert.is(realpathSync(entry), entry);
    assert.ok(existsSync(join(place, 'node_modules/@stci/stcirun/dist/bundle/agent.cjs')));
  });

  const PROGRAMS: Readonly<Record<string, RegExp>> = {
    'first.mjs': /^(rank [0-2] on \S+: hello from [0-2]\n){3}exit code 0\n$/,
    'sweep.mjs': /^0\.5 ended with 0 after \d+ ms\n1 ended with 0 after \d+ ms\n2 ended with 0 after \d+ ms\n$/,
    'limit.mjs': /^exit code 130: The job was ended by its AbortSignal: The operation was aborted due to timeout\n$/,
    'input.mjs': /^rank 0 counted 1000 lines\n$/,
    'failures.mjs': /^rank 1 failed: Rank 1 on \S+ ended with status 3\nSTCI_USAGE, exit code 193: .*np: expected/,
    'plan.mjs': /^a: ranks 0-1, started by controller\nb: ranks 2-3, started by controller\n$/,
    'old.cjs': /^hello\n$/,
  };
  for (const [name, expected] of Object.entries(PROGRAMS)) {
    test(name, async () => {
      const { exitCode, out, err } = await run(name);
      assert.equal([exitCode, err], [0, ''], out);
      assert.match(out, expected);
    }, LONG);
  }

  test('typed.ts: the compiler takes it, with all checks, and it runs', async () => {
    const args = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--target', 'es2022',
      '--lib', 'es2023,esnext.disposable', '--module', 'nodenext', '--types', 'node', 'typed.ts'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
    execFileSync(process.execPath, [tsc, ...args], { cwd: place, stdio: 'inherit' });
    const { exitCode, out, err } = await run('typed.js');
    assert.equal([exitCode, err], [0, '']);
    assert.is(out, '2 ranks, the last of them ended with 0\n');
  }, LONG);

  test('each program of the document is one of these', () => {
    assert.equal([...shown().keys()].sort(), [...Object.keys(PROGRAMS), 'typed.ts'].sort());
  });
});
