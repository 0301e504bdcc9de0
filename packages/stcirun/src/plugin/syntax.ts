/** Where a mistake in the syntax of an ES module is: Node tells it only to who runs it as a program. */

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Files that are looked at: each costs the start of a process. */
const FILES_MAX = 20;
const CHECK_MS = 5000;

/** `file:line` in a package; the module of its component is looked at first. undefined: it is not found. */
export function syntaxPlace(directory: string, module: string): string | undefined {
  const first = module.replace(/^\.\//u, '');
  const all = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const others = all.filter((file) => /\.[cm]?js$/u.test(file) && !file.includes('node_modules') && file !== first);
  for (const file of [first, ...others].slice(0, FILES_MAX)) {
    const path = join(directory, file);
    const { status, stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', timeout: CHECK_MS });
    const [head = ''] = (stderr ?? '').split('\n', 1);
    const line = /:(\d+)$/u.exec(head)?.[1];
    if (status !== 0 && head.includes(path) && line !== undefined) return `${file}:${line}`;
  }
  return undefined;
}
