/** What the command lines of flakes and mutants choose: test files, and where results are kept. */

import { accessSync, constants, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findTestFiles, isChosen, type TestFile } from '../runner/find.js';
import { DEFAULTS } from '../runner/options.js';

/** Throws where there are none: a word with a slip would test nothing. */
export function chosenFiles(root: string, words: readonly string[]): readonly TestFile[] {
  const found = findTestFiles(root, DEFAULTS.timeoutMs).filter((file) => isChosen(file, words, []));
  if (found.length === 0) throw new Error(`no test file's path contains ${words.join(' or ')}; is it built?`);
  return found;
}

/** `out` or a new directory. Throws where nothing can be written. */
export function outDirectory(out: string | undefined, prefix: string): string {
  if (out === undefined) return mkdtempSync(join(tmpdir(), prefix));
  const path = resolve(out);
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new Error(`--out: expected a directory in which results can be kept, or a path for one, not ${path}: ${
      (error as Error).message}`);
  }
  return path;
}
