/**
 * Selection lists: `a,b` names the components that may be chosen, `^a,b` those that may not. One `^`, and only in
 * front; an empty list allows all.
 */

import type { ParamValue } from '@stci/interface';
import type { CatalogEntry } from './catalog.js';
import { didYouMean } from './nearest.js';
import { quote } from './problems.js';
import type { ParamProblem } from './problems.js';

export interface SelectionList {
  readonly mode: 'all' | 'include' | 'exclude';
  readonly names: readonly string[];
}

/** Reads a list whose names have been checked by `listProblem`. */
export function selectionList(items: readonly string[]): SelectionList {
  const [first, ...rest] = items;
  if (first === undefined) return { mode: 'all', names: [] };
  return first.startsWith('^')
    ? { mode: 'exclude', names: [first.slice(1).trim(), ...rest] }
    : { mode: 'include', names: items };
}

/** What is wrong with a list over the entry's components, undefined where nothing is. */
export function listProblem(
  { components = [], always = [] }: Pick<CatalogEntry, 'components' | 'always'>,
  value: ParamValue,
): Pick<ParamProblem, 'code' | 'message'> | undefined {
  const items = value as readonly string[];
  const { mode, names } = selectionList(items);
  if (names.some((name) => name.startsWith('^'))) {
    const message = 'expected names to take (a,b) or names to leave out (^a,b), with one ^ in front of the whole list.';
    return { code: 'STCI_PARAM_INVALID', message };
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    return { code: 'STCI_PARAM_INVALID', message: `${quote(twice)} is named twice. Name it once.` };
  }
  const needed = mode === 'exclude' ? names.find((name) => always.includes(name)) : undefined;
  if (needed !== undefined) {
    return { code: 'STCI_PARAM_INVALID', message: `${quote(needed)} cannot be left out. Name others, or none.` };
  }
  const unknown = names.find((name) => !components.includes(name));
  if (unknown === undefined) return undefined;
  const known = components.length === 0 ? 'It has none.' : `There are: ${components.join(', ')}.`;
  const message = `unknown component ${quote(unknown)}.${didYouMean(unknown, components)} ${known}`;
  return { code: 'STCI_MCA_COMPONENT_UNKNOWN', message };
}
