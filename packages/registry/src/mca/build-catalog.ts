/**
 * Builds the catalogue of parameters: a framework `f` has the selection list `f`, its own `f.name`, its components'
 * `f.component.name`; a group `g` has `g.name`. Checks every declaration, so that a wrong default is found when the
 * program is assembled and not by a user.
 */

import { StciError } from '@stci/interface';
import type { AnyComponent, AnyFramework, ParamSpec, ParamSpecs } from '@stci/interface';
import { isParamName } from '../config/catalog.js';
import type { CatalogEntry, ParamCatalog, ParamGroup } from '../config/catalog.js';
import { quote } from '../config/problems.js';
import { formatValue, valueProblem } from '../config/values.js';

/** Throws STCI_MCA_DUPLICATE or STCI_MCA_INVALID. */
export function buildCatalog(
  frameworks: readonly AnyFramework[],
  components: ReadonlyMap<string, readonly AnyComponent[]>,
  groups: readonly ParamGroup[],
): ParamCatalog {
  const entries: CatalogEntry[] = groups.flatMap((group) => ownedBy(group.name, group.name, group.params));
  for (const framework of frameworks) {
    const own = components.get(framework.name) ?? [];
    entries.push(selectionEntry(framework, own), ...ownedBy(framework.name, framework.name, framework.params, own));
    for (const component of own) {
      const prefix = `${framework.name}.${component.name}`;
      entries.push(...ownedBy(prefix, `${framework.name}:${component.name}`, component.params));
    }
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const catalog = new Map<string, CatalogEntry>();
  for (const entry of entries) {
    checkEntry(entry, catalog);
    catalog.set(entry.name, Object.freeze(entry));
  }
  checkAliases(entries);
  return catalog;
}

function selectionEntry(framework: AnyFramework, components: readonly AnyComponent[]): CatalogEntry {
  const names = components.map((component) => component.name);
  const { always = [] } = framework;
  const spec: ParamSpec = {
    type: 'list',
    default: [],
    ...(framework.scope !== undefined && { scope: framework.scope }),
    help: `Components of ${framework.name} that may be chosen: a,b takes only these, ^a,b leaves these out, `
      + `empty allows all.${always.length === 0 ? '' : ` These run in any case: ${always.join(', ')}.`}`,
  };
  return { name: framework.name, spec, owner: framework.name, components: names, always };
}

function ownedBy(
  prefix: string,
  owner: string,
  specs: ParamSpecs,
  components: readonly AnyComponent[] = [],
): CatalogEntry[] {
  const names = components.map((component) => component.name);
  return Object.entries(specs).map(([name, spec]) =>
    ({ name: `${prefix}.${name}`, spec, owner, ...(spec.selects === true && { components: names }) }));
}

function checkEntry(entry: CatalogEntry, before: ParamCatalog): void {
  const earlier = before.get(entry.name);
  if (earlier !== undefined) {
    const message = `Parameter ${entry.name} is declared by ${earlier.owner} and by ${entry.owner}. Rename one.`;
    throw new StciError('STCI_MCA_DUPLICATE', message, { data: { name: entry.name } });
  }
  const wrong = declarationProblem(entry);
  if (wrong === undefined) return;
  const message = `Parameter ${quote(entry.name)} of ${entry.owner} ${wrong}`;
  throw new StciError('STCI_MCA_INVALID', message, { data: { name: entry.name } });
}

/** An alias must be a valid name that is not in use. */
function checkAliases(entries: readonly CatalogEntry[]): void {
  const owners = new Map(entries.map((entry) => [entry.name, entry]));
  for (const entry of entries) {
    for (const alias of entry.spec.aliases ?? []) {
      const other = owners.get(alias);
      if (other === undefined && isParamName(alias)) {
        owners.set(alias, entry);
        continue;
      }
      const wrong = other === undefined ? 'is not a valid name' : `is ${other.name} already`;
      const message = `The alias ${quote(alias)} of parameter ${entry.name} ${wrong}. Choose another.`;
      const data = { name: entry.name };
      throw new StciError(other === undefined ? 'STCI_MCA_INVALID' : 'STCI_MCA_DUPLICATE', message, { data });
    }
  }
}

function declarationProblem({ name, spec }: CatalogEntry): string | undefined {
  if (!isParamName(name)) return 'has no valid name. Expected dotted parts of a-z and 0-9, a letter first.';
  return paramProblem(spec);
}

/** What is wrong with a declaration, as the end of a sentence about the parameter. */
export function paramProblem(spec: ParamSpec): string | undefined {
  if (spec.help.trim() === '') return 'has no help. Say what it does, and what larger and smaller values cost.';
  const values = spec.values ?? [];
  if (spec.type === 'enum' && (values.length === 0 || new Set(values).size !== values.length)) {
    return 'is an enum without values, or with a duplicate.';
  }
  if (spec.min !== undefined && spec.max !== undefined && spec.min > spec.max) return 'has min above max.';
  const wrong = valueProblem(spec, spec.default);
  if (wrong === undefined) return undefined;
  const text = formatValue(spec, spec.default);
  const isQuoted = typeof spec.default === 'string' && /^\d+$|^true$|^false$/u.test(text);
  return `has a default that ${wrong}: ${quote(text)}.${isQuoted ? ` Write ${text} without quotes.` : ''}`;
}
