/**
 * Checks of plain text: line length, white space, the head comment, explained lint exceptions, and no path of the
 * machine on which a file was written.
 */

import { EXAMPLE_OWNERS, PERSONAL_DIRECTORIES } from './house.js';
import type { Finding, Tree } from './tree.js';

const LINE_CHARS_MAX = 120;
const CODE = /\.(ts|mjs|js|c|h|sh)$|^\.ci\/run$/;

export function checkLines(tree: Tree): Finding[] {
  return [...tree].filter(([path]) => path !== 'pnpm-lock.yaml').flatMap(([path, text]) => {
    const lines = text.split('\n');
    const findings = lines.flatMap((line, index) =>
      lineFaults(path, line).map((fault) => ({ path, line: index + 1, text: fault })));
    if (!text.endsWith('\n') || text.endsWith('\n\n')) {
      findings.push({ path, line: lines.length, text: 'must end with one newline' });
    }
    return findings;
  });
}

function lineFaults(path: string, line: string): string[] {
  const faults: string[] = [];
  if (/[ \t]$/.test(line)) faults.push('white space at its end');
  if (!CODE.test(path)) return faults;
  if (line.length > LINE_CHARS_MAX) faults.push(`${line.length} characters; at most ${LINE_CHARS_MAX}`);
  if (line.includes('\t')) faults.push('a tab; indent by two spaces');
  if (/eslint-disable/.test(line) && /^\s*(\/\/|\/\*)/.test(line) && !/ -- \S/.test(line)) {
    faults.push('a lint exception needs its reason: eslint-disable-next-line RULE -- why');
  }
  return faults;
}

/** Every source file begins with a comment that says what it is. */
export function checkHeads(tree: Tree): Finding[] {
  return [...tree]
    .filter(([path]) => /^packages\/[^/]+\/src\/.*\.ts$|^(scripts|lint|bench)\/.*\.mjs$/.test(path))
    .filter(([, text]) => !/^(#!.*\n)?\/\*\*/.test(text))
    .map(([path]) => ({ path, line: 1, text: 'must begin with a comment /** … */ that says what the file is' }));
}

/** `/home/kim` in `see /home/kim/notes`; no continuation of `~`, `$HOME`, `${root}`, `..` or the address of a page. */
const PERSONAL = new RegExp(`(?<![\\w.~$})*@-])/(?:${PERSONAL_DIRECTORIES.join('|')})/([\\w.-]*)`, 'g');

/** Directories of a user or a project, as they are on the machine on which a file was written; registries. */
export function checkPlaces(tree: Tree): Finding[] {
  return [...tree].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const place = [...line.matchAll(PERSONAL)].find(([, owner = '']) => !EXAMPLE_OWNERS.includes(owner))?.[0];
      const examples = EXAMPLE_OWNERS.join(', ');
      const wrong = `names a place of some machine: ${place}; in examples the owner is one of ${examples}`;
      if (place !== undefined) return [{ path, line: index + 1, text: wrong }];
      const registry = /https?:\/\/[^/\s]*(registry|npmjs|artifact|mirror)/i.exec(line);
      return registry === null ? [] : [{ path, line: index + 1, text: `names a registry: ${registry[0]}` }];
    }));
}
