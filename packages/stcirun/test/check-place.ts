/** `stci plugin check` on packages that a test makes. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, patient } from '@stci/testkit';
import { copyExamples } from './example-place.js';

const STCI = fileURLToPath(new URL('../dist/bundle/stci.cjs', import.meta.url));
const HEAD = `import { accept, defineComponent, launcherFramework } from '@stci/core/component';\n`;

/** The record of a launcher that is right, but for `more`. */
export const record = (more: string, tree = '({ arity: 2 })'): string => `${HEAD}export const flat = defineComponent({
  framework: launcherFramework, name: 'some', version: '1.0.0', frameworkVersion: 1, help: 'Some tree.', params: {},
  query: () => accept(1), create: () => ({ policy: 'some', tree: () => ${tree} }), ${more}
});\n`;

export interface Finding {
  readonly level: string;
  readonly check: string;
  readonly file: string;
  readonly text: string;
}

/** A directory with packages; the caller removes it. */
export class CheckPlace {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'stci-check-')));

  run(...args: string[]): { readonly code: number | null; readonly stdout: string } {
    const { status, stdout } = spawnSync(process.execPath, [STCI, 'plugin', 'check', ...args], {
      cwd: this.path, encoding: 'utf8', timeout: patient(190_000),
      env: { ...process.env, XDG_CACHE_HOME: join(this.path, 'cache'), HOME: this.path },
    });
    return { code: status, stdout };
  }

  /** Makes a package and checks it; its suite, too, if its name says so. */
  check(name: string, code: string, stci: object = {}, json: object = {}): Finding[] {
    const directory = join(this.path, name);
    mkdirSync(directory, { mode: 0o755 });
    const component = { framework: 'launcher', name: 'some', module: './index.js', help: 'Some tree.', ...stci };
    writeFileSync(join(directory, 'package.json'), JSON.stringify({
      name, version: '1.0.0', type: 'module', stci: { api: '^1', components: [component] }, ...json,
    }));
    writeFileSync(join(directory, 'index.js'), code);
    writeFileSync(join(directory, 'README.md'), `# ${name}\n`);
    const suites = name.startsWith('suite') ? ['--compliance'] : [];
    const { code: exitCode, stdout } = this.run(name, '--json', ...suites);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    assert.is(exitCode, findings.some(({ level }) => level === 'error') ? 194 : 0, stdout);
    return findings;
  }

  /** The finding is among those. */
  finds(findings: readonly Finding[], kind: string, file: string, says: RegExp): void {
    const found = findings.find((each) => each.check === kind && each.file === file && says.test(each.text));
    assert.ok(found, `${kind} ${file} ${String(says)} is not in ${JSON.stringify(findings, undefined, 1)}`);
  }

  /** An example's suites and own tests find nothing. */
  checkExample(name: string): void {
    const examples = copyExamples(name);
    const { code, stdout } = this.run(join(examples, name), '--compliance', '--json');
    rmSync(examples, { recursive: true, force: true });
    assert.is(code, 0, stdout);
    const { passed, findings } = JSON.parse(stdout) as { passed: number; findings: Finding[] };
    assert.equal(findings, []);
    assert.ok(passed >= 7, `${passed} tests`);
  }
}
