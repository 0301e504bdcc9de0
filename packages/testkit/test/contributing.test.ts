/**
 * The example component of CONTRIBUTING.md, taken from the text, compiled with the workspace's own options and run:
 * what a newcomer copies must work.
 */

// @timeoutMs 120000
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Fenced TypeScript with a line `// file: PATH`, path → text. */
function examples(): Map<string, string> {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const found = new Map<string, string>();
  for (const match of text.matchAll(/^( *)```ts\n([\s\S]*?)^ *```$/gm)) {
    const code = (match[2] as string).split('\n').map((line) => line.slice((match[1] as string).length)).join('\n');
    const path = /^\/\/ file: (\S+)$/m.exec(code)?.[1];
    if (path !== undefined) found.set(path, code);
  }
  return found;
}

/** A workspace of links to the built packages, with the example's files and manifests beside them. */
function makeWorkspace(directory: string, files: ReadonlyMap<string, string>): void {
  const star = join(directory, 'packages/topology-star');
  mkdirSync(join(star, 'test'), { recursive: true });
  mkdirSync(join(star, 'src'));
  for (const [path, code] of files) writeFileSync(join(directory, path), code);
  const manifest = readFileSync(join(root, 'packages/topology-tree/package.json'), 'utf8');
  writeFileSync(join(star, 'package.json'), manifest.replaceAll('topology-tree', 'topology-star'));
  for (const name of ['tsconfig.json', 'test/tsconfig.json']) {
    writeFileSync(join(star, name), readFileSync(join(root, 'packages/topology-tree', name)));
  }
  writeFileSync(join(directory, 'tsconfig.base.json'), readFileSync(join(root, 'tsconfig.base.json')));
  mkdirSync(join(directory, 'node_modules/@stci'), { recursive: true });
  symlinkSync(star, join(directory, 'node_modules/@stci/topology-star'));
  symlinkSync(join(root, 'node_modules/@types'), join(directory, 'node_modules/@types'));
  for (const name of ['interface', 'core', 'testkit']) {
    symlinkSync(join(root, 'packages', name), join(directory, 'packages', name));
    symlinkSync(join(root, 'packages', name), join(directory, 'node_modules/@stci', name));
  }
}

function run(directory: string, script: string, ...args: string[]): void {
  const ended = spawnSync(process.execPath, [script, ...args], { cwd: directory, encoding: 'utf8' });
  assert.is(ended.status, 0, `${script} ${args.join(' ')}\n${ended.stdout}${ended.stderr}`);
}

suite('CONTRIBUTING.md', (test) => {
  let directory = '';
  test.before(() => { directory = mkdtempSync(join(tmpdir(), 'stci-contributing-')); });
  test.after(() => { rmSync(directory, { recursive: true, force: true }); });

  test('its example compiles and its test passes', () => {
    const files = examples();
    assert.equal([...files.keys()], [
      'packages/topology-star/src/index.ts',
      'packages/topology-star/test/star.test.ts',
    ]);
    makeWorkspace(directory, files);
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    for (const project of ['packages/topology-star', 'packages/topology-star/test']) run(directory, tsc, '-p', project);
    const compiled = join(directory, 'packages/topology-star/dist-test/star.test.js');
    run(directory, join(root, 'scripts/test.mjs'), '--file', compiled);
  }, { timeoutMs: 60_000 });
});
