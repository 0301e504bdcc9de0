/**
 * Executes CONTRIBUTING.md in a copy of this repository: every block of commands is run and every file written, in
 * order.
 */

// @timeoutMs 900000
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { assert, patient, suite } from '@stci/testkit';
import { ROOT, blocks, commands, expectedCodes } from './documents.js';
import type { Block } from './documents.js';

const LEFT_OUT = new Set(['node_modules', '.git']);
const COMMAND_DEADLINE_MS = 400_000;
const OUTPUT_CHARS_SHOWN = 4_000;

const guide = blocks('CONTRIBUTING.md', readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'));

/** The path in a line `// file: PATH` of an example. */
function fileOf({ text }: Block): string | undefined {
  return /^\/\/ file: (\S+)$/m.exec(text)?.[1];
}

/** This repository as who works on it has it: compiled once, so that what changed is compiled; not installed. */
function copyRepository(to: string): void {
  cpSync(ROOT, to, { recursive: true, preserveTimestamps: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  run(to, 'git init --quiet && git add --all');
}

function run(directory: string, command: string): string {
  const { status, signal, stdout } = spawnSync('bash', ['-c', `exec 2>&1\n${command}`], {
    cwd: directory, encoding: 'utf8', timeout: patient(COMMAND_DEADLINE_MS), maxBuffer: 64 * 1024 * 1024,
    // What is there from the installation of this repository need not come over the network again.
    env: { ...process.env, npm_config_prefer_offline: 'true' },
  });
  const expected = expectedCodes(command);
  assert.ok(expected.includes(status ?? -1),
    `$ ${command}\n${stdout.slice(-OUTPUT_CHARS_SHOWN)}ended with ${signal ?? status}`);
  return stdout;
}

suite('CONTRIBUTING.md', (test) => {
  let directory = '';
  test.before(() => { directory = mkdtempSync(join(tmpdir(), 'stci-contributing-')); });
  test.after(() => { rmSync(directory, { recursive: true, force: true }); }, { timeoutMs: 60_000 });

  test('followed step by step, it ends with a component that stci shows', () => {
    copyRepository(directory);
    let last = '';
    for (const block of guide) {
      const path = fileOf(block);
      if (path !== undefined) {
        mkdirSync(dirname(join(directory, path)), { recursive: true });
        writeFileSync(join(directory, path), block.text);
      } else if (block.language === 'sh' && block.notRun === undefined) {
        for (const command of commands(block.text)) last = run(directory, command);
      }
    }
    assert.match(last, /hoop.*A ring: each position/);
  }, { timeoutMs: 800_000 });

  test('it has the steps that this follows', () => {
    const files = guide.map(fileOf).filter((path) => path !== undefined);
    assert.equal(files, ['packages/topology-hoop/test/hoop.test.ts']);
    assert.ok(guide.filter(({ language }) => language === 'sh').length >= 5);
    assert.ok(guide.filter(({ notRun }) => notRun !== undefined).length === 0);
  });
});
