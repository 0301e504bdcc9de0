/** All generated pages, and where one on disk is not what is generated. */

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { frontEndRegistry } from '../../../packages/stcirun/dist/assembly/front-end-registry.js';
import { commandsPage } from './commands.mjs';
import { compliancePage } from './compliance.mjs';
import { componentsPage } from './components.mjs';
import { contractsPage } from './contracts.mjs';
import { errorsPage } from './errors.mjs';
import { withLives } from './lives.mjs';
import { manualPages, MANUALS } from './man.mjs';
import { GENERATED } from './markdown.mjs';
import { parametersDocument } from './parameters.mjs';

/** Whatever else is in these is stale. */
export const REFERENCE_DIRECTORIES = ['docs/reference', ...MANUALS];

/** Path from the root of the repository → text. */
export function referencePages(root) {
  const registry = frontEndRegistry();
  return new Map([
    ['docs/architecture.md', withLives(readFileSync(join(root, 'docs/architecture.md'), 'utf8'))],
    ['docs/parameters.md', parametersDocument(registry)],
    ['docs/reference/README.md', INDEX],
    ['docs/reference/commands.md', commandsPage()],
    ['docs/reference/compliance.md', compliancePage(root)],
    ['docs/reference/components.md', componentsPage(registry)],
    ['docs/reference/contracts.md', contractsPage(root, registry)],
    ['docs/reference/errors.md', errorsPage(root)],
    ...manualPages(root, registry),
  ]);
}

/** A line for each page that is not what is generated; none: all are. */
export function stalePages(pages, root) {
  const problems = [];
  for (const [path, expected] of pages) {
    const file = join(root, path);
    if (!existsSync(file)) problems.push(`${path} is missing. ${REMEDY}`);
    else problems.push(...difference(path, readFileSync(file, 'utf8'), expected));
  }
  for (const directory of REFERENCE_DIRECTORIES.filter((one) => existsSync(join(root, one)))) {
    for (const name of readdirSync(join(root, directory))) {
      if (!pages.has(`${directory}/${name}`)) problems.push(`${directory}/${name} is not generated. ${REMEDY}`);
    }
  }
  return problems;
}

const REMEDY = 'Run: node scripts/write-reference.mjs';

function difference(path, actual, expected) {
  if (actual === expected) return [];
  const [has, wanted] = [actual.split('\n'), expected.split('\n')];
  const at = has.findIndex((line, index) => line !== wanted[index]);
  const line = at < 0 ? has.length : at;
  const show = (text) => (text === undefined ? 'nothing' : `'${text}'`);
  return [`${path}:${line + 1} is stale: it has ${show(has[line])}, the source gives ${show(wanted[line])}. ${REMEDY}`];
}

const INDEX = `# Reference

${GENERATED}

| page | what it has |
|---|---|
| [commands.md](commands.md) | \`stcirun\`, \`stci\`, \`finject\`, \`stci-client\`: every command and option |
| [../parameters.md](../parameters.md) | every parameter, and the sources of values |
| [components.md](components.md) | frameworks and their components, and the arguments of faults |
| [contracts.md](contracts.md) | the interfaces that components and programs are written against |
| [compliance.md](compliance.md) | the suites of components: what they are passed, and what they check |
| [errors.md](errors.md) | exit codes and error codes: what each means, and what to do |

By hand are the pages that explain: [../cli.md](../cli.md) the options, [../architecture.md](../architecture.md) how
the parts work together.
`;
