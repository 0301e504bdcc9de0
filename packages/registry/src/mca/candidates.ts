/**
 * Asks every component of a framework and keeps every verdict, so that a selection can be explained. Order: those
 * that accept by priority, highest first, ties by name, then the others by name. `query` is given frozen data and
 * changes nothing.
 */

import { defined } from '@stci/interface';
import type { AnyComponent, ErrorCode, Facts, ParamSource, Params, ParamValue } from '@stci/interface';
import { selectionList } from '../config/selection-list.js';
import type { SelectionList } from '../config/selection-list.js';

export interface Candidate {
  readonly component: AnyComponent;
  /** `excluded` by the selection list, and not asked. */
  readonly verdict: 'accepted' | 'declined' | 'excluded';
  /** Of those that accept. */
  readonly priority?: number;
  readonly reason?: string;
  /** Of those that decline because the request itself is wrong. */
  readonly code?: ErrorCode;
  /** True where an include list names it. */
  readonly named: boolean;
}

/** Where the selection list came from. */
export interface ListOrigin {
  readonly items: readonly string[];
  readonly source: ParamSource;
  readonly origin?: string;
}

export interface Candidates {
  readonly list: ListOrigin;
  readonly candidates: readonly Candidate[];
}

export function componentParams(params: Params, component: AnyComponent): Readonly<Record<string, ParamValue>> {
  return params.under(`${component.framework.name}.${component.name}`);
}

export function listOrigin(params: Params, frameworkName: string): ListOrigin {
  const { source = 'default', origin } = params.entries().find((entry) => entry.name === frameworkName) ?? {};
  return { items: params.list(frameworkName), source, ...defined({ origin }) };
}

/** One component's verdict about `request`; one that the list excludes is not asked. */
function ask(
  component: AnyComponent,
  list: SelectionList,
  params: Params,
  facts: Facts,
  request: unknown,
  byKind: boolean,
): Candidate {
  const listed = list.names.includes(component.name);
  const named = list.mode === 'include' && listed;
  const isAlways = component.framework.always?.includes(component.name) === true;
  const excludedBy = isAlways ? undefined : exclusion(list, component.name);
  if (excludedBy !== undefined) return { component, verdict: 'excluded', reason: excludedBy, named };
  const verdict = component.query({
    params: componentParams(params, component),
    request,
    named: named || byKind,
    facts,
  });
  const { accept, ...rest } = verdict;
  return { ...rest, component, verdict: accept ? 'accepted' : 'declined', named };
}

/** Why the list leaves a component out; undefined where it allows it. */
export function exclusion({ mode, names }: SelectionList, name: string): string | undefined {
  if (mode === 'exclude' && names.includes(name)) return 'left out by the selection list';
  return mode === 'include' && !names.includes(name) ? 'not in the selection list' : undefined;
}

/** `components` of one framework, each with its verdict about `request`; `byKind`: the one that was asked for. */
export function askAll(
  components: readonly AnyComponent[],
  list: ListOrigin,
  params: Params,
  facts: Facts,
  request: unknown,
  byKind = false,
): Candidates {
  const selection = selectionList(list.items);
  const candidates = components.map((component) => ask(component, selection, params, facts, request, byKind));
  return { list, candidates: candidates.sort(before) };
}

const RANKS = { accepted: 0, declined: 1, excluded: 2 } as const;

function before(a: Candidate, b: Candidate): number {
  return RANKS[a.verdict] - RANKS[b.verdict]
    || (b.priority ?? 0) - (a.priority ?? 0)
    || (a.component.name < b.component.name ? -1 : 1);
}
