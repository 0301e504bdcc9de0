/**
 * The repository as tidy reads it: every committed or committable text file, path → text. Checks are pure functions of
 * it, so a test can pass them a small bad tree.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Path from the root, with `/` → text. */
export type Tree = ReadonlyMap<string, string>;

export interface Finding {
  readonly path: string;
  /** From 1; 0 for the whole file. */
  readonly line: number;
  readonly text: string;
}

const TEXT = /(\.(ts|mjs|js|c|h|json|md|svg|yaml|yml|sh)|^\.ci\/run|^LICENSE|^\.gitignore)$/;

/** Files that documents may link to, and that have no text to check: an empty line stands for it. */
const PICTURE = /\.png$/;

/** Reads the files that git tracks or would add (ignored files are excluded). */
export function readTree(root: string): Tree {
  const list = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  const tree = new Map<string, string>();
  for (const path of [...new Set(list.split('\0'))].sort()) {
    const isPicture = PICTURE.test(path);
    if (!TEXT.test(path) && !isPicture) continue;
    const text = isPicture ? '\n' : readText(join(root, path));
    if (text !== undefined) tree.set(path, text);
  }
  return tree;
}

export function show({ path, line, text }: Finding): string {
  return `${path}${line > 0 ? `:${line}` : ''}: ${text}`;
}

/** A deleted file is still listed until the deletion is committed. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
