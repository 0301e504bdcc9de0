/**
 * Finds the compiled test files: packages/X/dist-test/NAME.test.js, compiled from packages/X/test/NAME.test.ts.
 * Compiled files without a source are removed, so that deleted tests do not run.
 */

import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

export interface TestFile {
  readonly compiled: string;
  /** Path of the source relative to the root, as shown. */
  readonly label: string;
  readonly timeoutMs: number;
}

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

/** A file given by its compiled path. */
export function testFile(root: string, compiled: string, source: string, defaultTimeoutMs: number): TestFile {
  const label = relative(root, source).split(sep).join('/');
  return { compiled, label, timeoutMs: declaredTimeoutMs(source) ?? defaultTimeoutMs };
}

/** `// @timeoutMs N` within the first 20 lines. */
function declaredTimeoutMs(source: string): number | undefined {
  const head = readFileSync(source, 'utf8').split('\n').slice(0, 20);
  const line = head.map((each) => /@timeoutMs\s+(\d+)/.exec(each)).find((match) => match !== null);
  return line === undefined || line === null ? undefined : Number(line[1]);
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
