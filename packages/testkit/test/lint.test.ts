/**
 * Every rule of ESLint's configuration: a bad sample of a line or two, under the name of a file to which the rule
 * applies, with the expected rule and message. And good samples, which must pass.
 */

// @timeoutMs 120000
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

interface LintMessage {
  readonly ruleId: string | null;
  readonly message: string;
}

interface Linter {
  lintText(text: string, options: { filePath: string }): Promise<{ messages: LintMessage[] }[]>;
}

interface EslintModule {
  readonly ESLint: new (options: { cwd: string; overrideConfigFile: string }) => Linter;
}

const { ESLint } = createRequire(join(root, 'lint/package.json'))('eslint') as EslintModule;
const linter = new ESLint({ cwd: root, overrideConfigFile: join(root, 'lint/eslint.config.mjs') });

async function lint(path: string, code: string): Promise<LintMessage[]> {
  const results = await linter.lintText(code, { filePath: join(root, path) });
  return results.flatMap(({ messages }) => messages);
}

const CORE = 'packages/core/src/am/sample.ts';
const TREE = 'packages/topology-tree/src/sample.ts';
const INTERFACE = 'packages/interface/src/sample.ts';
const SIM = 'packages/platform-sim/src/sample.ts';
const ANY_TEST = 'packages/core/test/sample.test.ts';

const IMPORTS = 'no-restricted-imports';
const GLOBALS = 'no-restricted-globals';
const PROPERTIES = 'no-restricted-properties';
const SYNTAX = 'no-restricted-syntax';
const SAME = 'house/no-same-values';

/** Where, what, the rule, and words of its message that name the way out. */
const BAD: readonly (readonly [path: string, code: string, rule: string, says: string])[] = [
  [CORE, "import 'node:fs';", IMPORTS, 'use Platform'],
  [INTERFACE, "import { join } from 'node:path'; export { join };", IMPORTS, 'use Platform'],
  [TREE, "export * from 'node:fs';", IMPORTS, 'use Platform'],
  [SIM, "import 'node:net';", IMPORTS, 'use Platform'],
  ['packages/swarm/src/sample.ts', "import 'node:fs';", IMPORTS, 'use Platform'],
  [CORE, "import 'fs';", IMPORTS, 'tidy/house.ts'],
  [CORE, "import 'left-pad';", IMPORTS, 'tidy/house.ts'],
  [CORE, "import 'ws';", IMPORTS, 'use Platform.network'],
  ['packages/stcirun/src/sample.ts', "import 'ws';", IMPORTS, 'Only packages/platform-node'],
  [ANY_TEST, "import 'ws';", IMPORTS, 'Only packages/platform-node'],
  [CORE, "import 'cbor-x';", IMPORTS, 'packages/core/src/codec'],
  ['packages/stcirun/src/sample.ts', "import 'cbor-x/decode';", IMPORTS, 'packages/core/src/codec'],
  [CORE, "import 'tsyringe';", IMPORTS, 'container.ts'],
  ['packages/registry/src/mca/sample.ts', "import 'reflect-metadata';", IMPORTS, 'container.ts'],
  [CORE, "import '@oclif/core';", IMPORTS, 'Only packages/stcirun'],
  ['packages/finject/src/sample.ts', "import '@oclif/core';", IMPORTS, 'Only packages/stcirun'],
  ['packages/platform-node/src/sample.ts', "import 'uvu';", IMPORTS, '@stci/testkit'],
  [ANY_TEST, "import 'uvu';", IMPORTS, '@stci/testkit'],
  [ANY_TEST, "import 'uvu/assert';", IMPORTS, '@stci/testkit'],
  [INTERFACE, "import '@stci/core';", IMPORTS, 'may import only nothing'],
  [CORE, "import '@stci/platform-node';", IMPORTS, 'may import only @stci/interface'],
  [CORE, "import '@stci/topology-tree';", IMPORTS, 'may import only @stci/interface'],
  [TREE, "import '@stci/core';", IMPORTS, '@stci/core/component'],
  [TREE, "import '@stci/topology-bmg';", IMPORTS, '@stci/core/component'],
  ['packages/launcher-local/src/sample.ts', "import '@stci/platform-node';", IMPORTS, '@stci/core/component'],
  ['packages/detector-ring/src/sample.ts', "import '@stci/core';", IMPORTS, '@stci/core/component'],
  [SIM, "import '@stci/core';", IMPORTS, 'may import only @stci/interface'],
  ['packages/platform-node/src/sample.ts', "import '@stci/core';", IMPORTS, 'may import only @stci/interface'],
  ['packages/swarm/src/sample.ts', "import '@stci/platform-node';", IMPORTS, 'may import only'],
  ['packages/stcirun/src/sample.ts', "import '@stci/core/dist/index.js';", IMPORTS, 'No deep imports'],
  [ANY_TEST, "import '@stci/core/src/index.js';", IMPORTS, 'No deep imports'],
  [CORE, "await import('@stci/interface');", SYNTAX, 'No import()'],
  [CORE, "const { a } = await import('node:fs'); export { a };", SYNTAX, 'No import()'],
  [CORE, 'export const t = Date.now();', PROPERTIES, 'Platform.clock'],
  [CORE, 'const { now } = Date; export { now };', PROPERTIES, 'Platform.clock'],
  [CORE, 'export const t = new Date();', SYNTAX, 'Platform.clock'],
  [CORE, 'export const t = Date();', SYNTAX, 'Platform.clock'],
  [CORE, 'export const t = performance.now();', GLOBALS, 'Platform.clock'],
  [TREE, 'setTimeout(() => 1, 1);', GLOBALS, 'Platform.clock'],
  [TREE, 'setInterval(() => 1, 1);', GLOBALS, 'Platform.clock'],
  [TREE, 'setImmediate(() => 1);', GLOBALS, 'Platform.clock'],
  [TREE, 'queueMicrotask(() => 1);', GLOBALS, 'Dispatcher'],
  [TREE, 'globalThis.setTimeout(() => 1, 1);', PROPERTIES, 'Platform.clock'],
  [SIM, 'export const r = Math.random();', PROPERTIES, 'Platform.random'],
  [SIM, 'process.exit(1);', GLOBALS, 'Platform.processes'],
  [SIM, "console.log('x');", GLOBALS, 'Platform.log'],
  [SIM, 'export const b = Buffer.alloc(1);', GLOBALS, 'Uint8Array'],
  ['packages/stcirun/src/sample.ts', 'export enum E { A }', SYNTAX, 'No enums'],
  [ANY_TEST, 'export enum E { A }', SYNTAX, 'No enums'],
  ...[ANY_TEST, 'packages/stcirun/src/sample.ts', 'scripts/sample.mjs', 'bench/lib/sample.mjs'].flatMap((path) => [
    [path, "export const p = new URL('../a', import.meta.url).pathname;", SYNTAX, 'fileURLToPath'],
    [path, "const { pathname: p } = new URL('../a', import.meta.url); export { p };", SYNTAX, 'fileURLToPath'],
  ] as const),
  [CORE, 'declare const d: never; @d class A {} export { A };', SYNTAX, 'No decorators'],
  [CORE, 'export namespace N { export const a = 1; }', SYNTAX, 'No namespaces'],
  [CORE, 'export class A { constructor(private a: 1) {} }', SYNTAX, 'No parameter properties'],
  [CORE, 'export default 1;', SYNTAX, 'No default exports'],
  [ANY_TEST, 'export const a: any = 1;', '@typescript-eslint/no-explicit-any', 'any'],
  [CORE, '// @ts-ignore\nexport const a = 1;', '@typescript-eslint/ban-ts-comment', 'ts-ignore'],
  [CORE, '// @ts-expect-error\nexport const a = 1;', '@typescript-eslint/ban-ts-comment', 'ts-expect-error'],
  [CORE, '// TODO: later\nexport const a = 1;', 'no-warning-comments', 'todo'],
  [CORE, 'export const a = (b: 1 | 2) => b == 1;', 'eqeqeq', '==='],
  [CORE, 'export const a = 1;\n'.repeat(401), 'max-lines', '401'],
  [ANY_TEST, 'await new Promise((resolve) => setTimeout(resolve, 100));', SYNTAX, 'No sleep'],
  [ANY_TEST, 'export const wait = () => new Promise((go) => { setTimeout(go, 1); });', SYNTAX, 'No sleep'],
  [ANY_TEST, "import { setTimeout } from 'node:timers/promises'; await setTimeout(1);", SYNTAX, 'No sleep'],
  [ANY_TEST, "spawnSync('a', [], { timeout: 20_000 });", SYNTAX, 'patient'],
  [ANY_TEST, 'assert.ok(true);', SYNTAX, 'cannot fail'],
  [ANY_TEST, 'assert.is(1, one);', SYNTAX, 'what was found comes first'],
  [ANY_TEST, 'assert.equal(a.b, a.b);', SAME, 'with itself'],
  [ANY_TEST, "await eventually(() => true, { what: 'x' });", SYNTAX, 'waits for nothing'],
  [ANY_TEST, "eventually(() => a > 1, { what: 'x' });", SYNTAX, 'await it'],
  [ANY_TEST, "assert.rejectsWith('STCI_USAGE', f());", SYNTAX, 'await it'],
  [ANY_TEST, "await eventually(() => a, { what: 'x' }).catch(() => undefined);", SYNTAX, 'dropped'],
  [ANY_TEST, 'a === 1;', SYNTAX, 'nobody looks'],
  [ANY_TEST, 'try { assert.ok(a); } catch {}', SYNTAX, 'drops the failure'],
  [ANY_TEST, "test('a', () => { if (a) return; assert.ok(b); });", SYNTAX, 'skip(reason)'],
  [CORE, `export function f(): void {\n${'  f();\n'.repeat(50)}}`, 'max-lines-per-function', '52'],
];

const GOOD: readonly (readonly [path: string, code: string])[] = [
  [CORE, "import { StciError } from '@stci/interface'; export { StciError };"],
  [TREE, "import { defineComponent } from '@stci/core/component'; export { defineComponent };"],
  [CORE, "await import('../mca/container.js');"],
  ['packages/stcirun/src/sample.ts', "import '@stci/core/iof'; await import('@stci/registry/container');"],
  [CORE, 'export const day = (wallMs: number) => new Date(wallMs).toISOString();'],
  ['packages/core/src/codec/cbor.ts', "import 'cbor-x';"],
  ['packages/registry/src/mca/container.ts', "import 'reflect-metadata'; import 'tsyringe';"],
  ['packages/platform-node/src/sample.ts', "import 'ws'; import 'node:net'; setTimeout(() => Date.now(), 1);"],
  ['packages/stcirun/src/sample.ts', "import '@oclif/core'; import '@stci/platform-node'; process.exit(1);"],
  ['packages/compliance/src/sample.ts', "import 'uvu'; import 'node:fs'; import '@stci/interface';"],
  [ANY_TEST, 'assert.equal(next(), next()); assert.is(f({}), f({}));'],
  [ANY_TEST, 'export const late = () => new Promise((_, fail) => setTimeout(() => fail(new Error()), 1));'],
  [ANY_TEST, "test('a', () => { try { f(); } catch {} assert.ok(b); });"],
  [ANY_TEST, "test('a', () => { if (a) return skip('no a here'); assert.ok(b); });"],
  [ANY_TEST, "spawnSync('a', [], { timeout: patient(20_000) });"],
  [ANY_TEST, "import 'node:fs'; import '@stci/testkit'; setTimeout(() => console.log(Date.now()), 1);"],
];

suite('lint', (test) => {
  for (const [path, code, rule, says] of BAD) {
    test(`${rule} refuses in ${path}: ${code.slice(0, 60)}`, async () => {
      const messages = await lint(path, code);
      const hits = messages.filter((each) => each.ruleId === rule && each.message.includes(says));
      assert.ok(hits.length > 0, `expected ${rule} with "${says}", got ${JSON.stringify(messages)}`);
    }, { timeoutMs: 20_000 });
  }
  for (const [path, code] of GOOD) {
    test(`allows in ${path}: ${code.slice(0, 60)}`, async () => {
      assert.equal(await lint(path, code), []);
    }, { timeoutMs: 20_000 });
  }
});
