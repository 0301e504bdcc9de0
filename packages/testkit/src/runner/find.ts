/**
 * Finds the compiled test files: packages/X/dist-test/NAME.test.js, compiled from packages/X/test/NAME.test.ts.
 * Compiled files without a source are removed, so that deleted tests do not run.
 */

import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Where a file says what the runner must know. */
const HEAD_LINES = 20;

export interface TestFile {
  readonly compiled: string;
  /** Path of the source relative to the root, as shown. */
  readonly label: string;
  readonly timeoutMs: number;
  /** What changes nothing of its outcome, as its head says. */
  readonly sameFor: readonly Change[];
}

/** What may differ in a repetition of the tests from the first run. */
export type Change = 'user' | 'node';
export const CHANGES: readonly Change[] = ['user', 'node'];

/** All compiled test files, by package. Removes those without a source. */
export function findTestFiles(root: string, defaultTimeoutMs: number): TestFile[] {
  const files: TestFile[] = [];
  for (const name of readdirSync(join(root, 'packages')).sort()) {
    const compiledDir = join(root, 'packages', name, 'dist-test');
    const sourceDir = join(root, 'packages', name, 'test');
    if (!existsSync(compiledDir)) continue;
    for (const path of removeStale(compiledDir, sourceDir)) {
      if (!path.endsWith('.test.js')) continue;
      const source = join(sourceDir, path.replace(/\.js$/, '.ts'));
      files.push(testFile(root, join(compiledDir, path), source, defaultTimeoutMs));
    }
  }
  return files;
}

/** The path contains one of the words, if there are any, and it may come out differently for the other user or Node. */
export function isChosen({ label, sameFor }: TestFile, words: readonly string[], others: readonly Change[]): boolean {
  const isNamed = words.length === 0 || words.some((word) => label.includes(word));
  return isNamed && (others.length === 0 || others.some((other) => !sameFor.includes(other)));
}

/** A file given by its compiled path. */
export function testFile(root: string, compiled: string, source: string, defaultTimeoutMs: number): TestFile {
  const label = relative(root, source).split(sep).join('/');
  const head = readFileSync(source, 'utf8').split('\n').slice(0, HEAD_LINES).join('\n');
  const timeoutMs = declaredTimeoutMs(head) ?? defaultTimeoutMs;
  return { compiled, label, timeoutMs, sameFor: declaredSame(label, head) };
}

/** `// @timeoutMs N`. */
function declaredTimeoutMs(head: string): number | undefined {
  const found = /@timeoutMs\s+(\d+)/.exec(head)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** `// @sameFor user, node: REASON`. Throws if it says something else, or no reason. */
function declaredSame(label: string, head: string): readonly Change[] {
  const line = /^\/\/ @sameFor\b(.*)$/m.exec(head)?.[1];
  if (line === undefined) return [];
  const [, words = '', reason = ''] = /^([^:]*):(.*)$/.exec(line) ?? [];
  const named = words.split(',').map((word) => word.trim());
  const known = CHANGES.filter((change) => named.includes(change));
  if (known.length === named.length && reason.trim() !== '') return known;
  throw new Error(`${label}: expected // @sameFor ${CHANGES.join(', ')}: REASON, or one of them, not @sameFor${line}`);
}

/** Removes compiled files without a source; returns the others, relative to `compiledDir`. */
export function removeStale(compiledDir: string, sourceDir: string): string[] {
  const kept: string[] = [];
  const entries = readdirSync(compiledDir, { recursive: true, encoding: 'utf8' }).sort();
  for (const path of entries) {
    const match = /^(.*?)(\.d\.ts|\.js)(\.map)?$/.exec(path);
    if (match === null) continue;
    if (existsSync(join(sourceDir, `${match[1]}.ts`))) kept.push(path);
    else rmSync(join(compiledDir, path));
  }
  return kept;
}
