/**
 * `write-reference.mjs`: writes docs/parameters.md, docs/reference and the state diagrams of docs/architecture.md from
 * the declarations of everything that is built. `write-reference.mjs --check [DIRECTORY]`: tells which pages are not
 * what it would write (of a copy in the directory), and ends with 1 if there are any; a test does so.
 */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './lib/run.mjs';
import { REFERENCE_DIRECTORIES, referencePages, stalePages } from './lib/reference/pages.mjs';

const [option, directory = root] = process.argv.slice(2);
const pages = referencePages(root);
if (option === '--check') {
  const problems = stalePages(pages, directory);
  process.stdout.write(problems.map((problem) => `${problem}\n`).join(''));
  process.exitCode = problems.length === 0 ? 0 : 1;
} else {
  for (const [path, text] of pages) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const place of REFERENCE_DIRECTORIES) {
    for (const name of readdirSync(join(root, place))) {
      if (!pages.has(`${place}/${name}`)) rmSync(join(root, place, name));
    }
  }
}
