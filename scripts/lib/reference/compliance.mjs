/**
 * docs/reference/compliance.md: the suites of `@stci/compliance`, what they are passed and what they check, from the
 * declarations that the compiler has written.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declarations, headOf } from './declarations.mjs';
import { capital, code, page, table } from './markdown.mjs';

const INTRODUCTION = `What a component's test calls, and how a counter-example is checked again
([../plugins.md](../plugins.md#compliance-suites)). A field that does not exist, or holds something else, is refused by
its name. A test that asserts nothing fails; what does not apply to a component is skipped with its reason.`;

/** Framework, whose folder it is → declarations by file; the last file has the table of its promises, too. */
const SUITES = {
  topology: {
    topology: ['topologyCompliance', 'TopologyCase', 'topologyExample'], 'topology-checks': ['TopologyExample'],
  },
  launcher: { launcher: ['launcherCompliance', 'LauncherCase', 'launcherExample', 'LauncherExample'] },
  launcherproc: {
    'launcherproc-platforms': ['launcherProcSuites', 'LauncherProcVariant'],
    launcherproc: ['LauncherProcExample'],
  },
  detector: {
    detector: ['detectorCompliance'], 'detector-run': ['DetectorCase'],
    'detector-contract': ['DetectorExample'],
  },
  notifier: {
    notifier: ['notifierCompliance', 'NotifierComplianceOptions', 'notifierExample'],
    'notifier-contract': ['NotifierExample', 'Failing'],
  },
  errmgr: { errmgr: ['errmgrCompliance', 'ErrmgrCase', 'errmgrExample', 'ErrmgrExample'] },
  fault: { fault: ['faultCompliance', 'FaultCase', 'faultExample', 'FaultExample'] },
};

export function compliancePage(root) {
  return page('Compliance suites', INTRODUCTION, Object.entries(SUITES).flatMap(([framework, files]) => [
    `## ${capital(framework)}`, '',
    ...table(['promise', 'what is checked'], promisesOf(root, `${framework}/${Object.keys(files).at(-1)}`)), '',
    ...Object.entries(files).flatMap(([file, names]) => fileLines(root, `${framework}/${file}`, names)),
  ]));
}

/** As the compiler writes constants; the suites themselves are not loaded. */
function promisesOf(root, file) {
  const text = readFileSync(join(root, `packages/compliance/dist/${file}.d.ts`), 'utf8');
  const [, block] = /readonly promises: \{([^}]*)\}/.exec(text);
  return [...block.matchAll(/readonly (\w+): (["'])(.*)\2;/g)].map(([, name, , what]) => [code(name), what]);
}

function fileLines(root, file, names) {
  const base = join(root, 'packages/compliance');
  const head = headOf(readFileSync(join(base, `src/${file}.ts`), 'utf8'));
  const declared = declarations(readFileSync(join(base, `dist/${file}.d.ts`), 'utf8'), head);
  return names.flatMap((name) => {
    const found = declared.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${file}.ts declares no ${name}`);
    const { comment, text } = found;
    return [`### ${name}`, '', ...(comment === '' ? [] : [comment, '']), '```ts', text, '```', ''];
  });
}
