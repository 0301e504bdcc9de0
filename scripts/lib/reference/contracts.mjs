/**
 * docs/reference/contracts.md: what `@stci/interface` and `@stci/core/component` export, from the declarations that the
 * compiler has written beside them.
 */

import { readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { declarations, exportsOf, headOf } from './declarations.mjs';
import { capital, page } from './markdown.mjs';

const INTERFACE = 'packages/interface';
const CORE = 'packages/core';

const INTRODUCTION = `What components and programs are written against: types and functions of
\`@stci/interface\` and, marked so, of \`@stci/core/component\`. First the frameworks, then what several of them use.`;

/** Tables that have a page of their own. */
const ELSEWHERE = {
  EXIT: '[errors.md](errors.md#exit-codes)', ERROR_KINDS: '[errors.md](errors.md#error-codes)',
};

/** Folders of core whose contracts are in a file of another name. */
const SECTION_OF = { bootcom: 'link' };

export function contractsPage(root, registry) {
  const sections = new Map();
  const add = (name, entry) => sections.set(name, [...(sections.get(name) ?? []), entry]);
  for (const { file, names } of exportsOf(read(root, `${INTERFACE}/src/index.ts`))) {
    add(basename(file, '.js'), { package: INTERFACE, file, names });
  }
  for (const { file, names } of exportsOf(read(root, `${CORE}/src/component.ts`))) {
    if (!file.startsWith('.')) continue;
    const folder = basename(posix.dirname(file));
    add(SECTION_OF[folder] ?? folder, { package: CORE, file, names });
  }
  const named = registry.frameworks.map(({ name }) => SECTION_OF[name] ?? name);
  const frameworks = named.filter((name) => sections.has(name));
  const order = [...new Set([...frameworks, ...[...sections.keys()].sort()])];
  return page('Contracts', INTRODUCTION, order.flatMap((name) => {
    const title = frameworks.includes(name) ? `Framework ${name}` : capital(name.replaceAll('-', ' '));
    return [`## ${title}`, '', ...sectionLines(root, sections.get(name))];
  }));
}

function sectionLines(root, entries) {
  const lines = [];
  for (const { package: owner, file, names } of entries) {
    const source = `${owner}/src/${posix.normalize(file).replace(/\.js$/, '.ts')}`;
    const head = headOf(read(root, source));
    const declared = declarations(read(root, source.replace('/src/', '/dist/').replace(/\.ts$/, '.d.ts')), head);
    const wanted = names === undefined ? declared : names.map((one) => declarationOf(declared, one, source));
    lines.push(`*[${source}](../../${source})*${owner === CORE ? ', `@stci/core/component`' : ''}`, '');
    if (owner === INTERFACE) lines.push(head, '');
    for (const { name: title, comment, text } of wanted) {
      const shown = ELSEWHERE[title] === undefined ? ['```ts', text, '```'] : [`In ${ELSEWHERE[title]}.`];
      lines.push(`### ${title}`, '', ...(comment === '' ? [] : [comment, '']), ...shown, '');
    }
  }
  return lines;
}

function declarationOf(declared, name, source) {
  const found = declared.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${source} declares no ${name}`);
  return found;
}

function read(root, path) {
  return readFileSync(join(root, path), 'utf8');
}
