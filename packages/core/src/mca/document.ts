/**
 * docs/parameters.md, made from a registry: how parameters are written and where they come from, and a table of all
 * of them. A test keeps the committed file equal to what this makes.
 */

import { PARAM_SOURCES } from '@stci/interface';
import type { CatalogEntry } from '../config/catalog.js';
import { environmentName } from '../config/sources.js';
import { formatBounds, formatValue } from '../config/values.js';
import type { Registry } from './registry.js';

const SOURCES: Readonly<Record<(typeof PARAM_SOURCES)[number], string>> = {
  override: '`/etc/stci/override.conf`, the administrator\'s; a warning is printed where another value was set',
  'command line': '`--mca key=value`, and the short options that stand for one',
  'am file': '`--am FILE`, may be repeated, a later file overrides an earlier one',
  environment: `\`${environmentName('launcher.tree.arity')}=4\`: \`_\` stands for \`.\``,
  'project file': '`stci.conf` in the working directory or the nearest directory above it, where nobody else could '
    + 'have written it ([security.md](security.md#configuration-files))',
  'user file': '`$XDG_CONFIG_HOME/stci/stci.conf`, else `~/.config/stci/stci.conf`',
  'system file': '`/etc/stci/stci.conf`',
  default: 'the tables below',
};

const INTRODUCTION = `# Parameters

Everything that can be tuned is a parameter with a dotted name: \`framework.name\` for a framework's own,
\`framework.component.name\` for a component's, \`group.name\` for the parts of the runtime that are no framework. The
parameter that is called like a framework is its selection list. Names are small letters, digits and dots.

\`stci info\` shows each with its value and where it came from; \`stci info launcher --why\` explains a selection.
This file is made by \`node scripts/write-parameters.mjs\`; change the declarations, not the file.

## Sources

From high to low; the highest that has a value wins.
`;

const RULES = `
An unknown name and a value that does not fit are errors in every source, whether or not a higher source overrides
them; all are reported at once, with the nearest names. The same name twice in one file, or
twice on the command line, is an error unless the values are the same. The front-end resolves once and sends the
result to the agents, which read no files.

A configuration file has \`key = value\` lines. \`#\` begins a comment at the start of a line or after a blank.

\`\`\`
# stci.conf
launcher = tree
launcher.tree.arity = 16
tool.grace = 10s            # our programs write a checkpoint
\`\`\`

## Types

| type | written as |
|---|---|
| int | an integer: \`8\` |
| bool | \`true\` or \`false\` |
| string | text, without blanks at its ends |
| enum | one of the values named |
| duration | an integer and \`ms\`, \`s\`, \`m\` or \`h\`: \`250ms\`, \`2s\`; only \`0\` needs no unit |
| size | an integer and \`B\`, \`kB\` (1000), \`MB\`, \`GB\`, \`KiB\` (1024), \`MiB\`, \`GiB\`; none is bytes |
| list | names separated by commas; nothing is the empty list |

A selection list \`a,b\` takes only these components, \`^a,b\` leaves these out (one \`^\`, in front of the whole list),
and the empty one allows all. Of those that are allowed and accept, the one with the highest priority is chosen; ties
break by name. A component that is named and declines is an error with its reason, never passed over in silence.
`;

/** The whole file. */
export function parametersDocument(registry: Registry): string {
  const sources = PARAM_SOURCES.map((source) => `| ${source} | ${SOURCES[source]} |`);
  const lines = [INTRODUCTION, '| source | where |', '|---|---|', ...sources, RULES];
  for (const framework of registry.frameworks) {
    const names = registry.components(framework.name).map((component) => component.name);
    const components = names.length === 0 ? 'components come as packages' : `components: ${names.join(', ')}`;
    lines.push(`## ${framework.name}`, '', `${framework.help} Mode ${framework.mode}; ${components}.`);
    lines.push('', ...table(registry, (owner) => owner.split(':')[0] === framework.name), '');
  }
  for (const group of registry.groups) {
    lines.push(`## ${group.name}`, '', group.help, '', ...table(registry, (owner) => owner === group.name), '');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function table(registry: Registry, isOwner: (owner: string) => boolean): string[] {
  const own = [...registry.catalog.values()].filter((entry) => isOwner(entry.owner));
  return ['| parameter | type | bounds | default | meaning |', '|---|---|---|---|---|', ...own.map(row)];
}

function row({ name, spec }: CatalogEntry): string {
  const cells = [`\`${name}\``, spec.type, formatBounds(spec), formatValue(spec, spec.default) || 'empty', spec.help];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
