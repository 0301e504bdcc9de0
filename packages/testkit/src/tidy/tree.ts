/**
 * The repository as tidy sees it: every committed or committable text file, path → text. Checks are pure functions
 * of it, so a test gives them a bad tree of three lines.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Path from the root, with `/` → text. */
export type Tree = ReadonlyMap<string, string>;

export interface Finding {
  readonly path: string;
  /** From 1; 0 where the whole file is meant. */
  readonly line: number;
  readonly text: string;
}

const TEXT = /(\.(ts|mjs|js|json|md|svg|yaml|yml|sh)|^\.ci\/run|^LICENSE|^\.gitignore)$/;

/** Reads what git knows and what it would take (ignored files are left out). */
export function readTree(root: string): Tree {
  const list = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  const tree = new Map<string, string>();
  for (const path of [...new Set(list.split('\0'))].sort()) {
    if (!TEXT.test(path)) continue;
    const text = readText(join(root, path));
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
