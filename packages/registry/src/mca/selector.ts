/**
 * Selection, bound to one agent's parameters and facts: mode one, many, and keyed when an object is made (the
 * paper's dynamic selection). A component that the user named and that declines is an error with its reason.
 */

import { StciError, assert } from '@stci/interface';
import type { AnyFramework, Component, Facts, Framework, Params, SelectionMode } from '@stci/interface';
import { quote } from '../config/problems.js';
import { selectionList } from '../config/selection-list.js';
import { askAll, componentParams, exclusion, listOrigin } from './candidates.js';
import type { Candidate, Candidates, ListOrigin } from './candidates.js';
import type { Registry } from './registry.js';

/** A component that was chosen. */
export interface Selected<Module, Deps, Request> {
  readonly component: Component<Module, Deps, Request>;
  readonly priority: number;
  readonly reason: string | undefined;
  /** A new module each time. */
  create(deps: Deps, request: Request): Module;
}

/** A keyed framework: modules by name. */
export interface Keyed<Module, Deps, Request> {
  /** Throws STCI_MCA_COMPONENT_UNKNOWN, or _DECLINED where `kind` declines or the selection list leaves it out. */
  create(kind: string, deps: Deps, request: Request): Module;
  /** The best of those that accept. Throws STCI_MCA_COMPONENT_DECLINED or STCI_MCA_NONE_AVAILABLE. */
  best(request: Request): Selected<Module, Deps, Request>;
  /** Kinds that the selection list allows, sorted. */
  readonly kinds: readonly string[];
}

export interface Selector {
  /** Throws STCI_MCA_COMPONENT_DECLINED or STCI_MCA_NONE_AVAILABLE. */
  one<M, D, R = undefined>(framework: Framework<M, D, R>, request?: R): Selected<M, D, R>;
  /** Highest priority first; may be empty. Throws STCI_MCA_COMPONENT_DECLINED. */
  many<M, D, R = undefined>(framework: Framework<M, D, R>, request?: R): readonly Selected<M, D, R>[];
  keyed<M, D, R = undefined>(framework: Framework<M, D, R>): Keyed<M, D, R>;
  /** Every verdict, for people; never throws for what a component answers. */
  explain(frameworkName: string, request?: unknown): Candidates;
}

/** One agent's question to the components of a framework, or to one of them. */
type Ask = (frameworkName: string, request: unknown, kind?: string) => Candidates;

export function createSelector(registry: Registry, params: Params, given: Facts = {}): Selector {
  // A frozen record stays as it is: its getters are asked when a component asks.
  const facts = Object.isFrozen(given) ? given : Object.freeze({ ...given });
  const ask: Ask = (name, request, kind) => {
    const asked = kind === undefined ? registry.components(name) : [registry.component(name, kind)];
    return askAll(asked, listOrigin(params, name), params, facts, request, kind !== undefined);
  };
  return Object.freeze({
    one: <M, D, R>(framework: Framework<M, D, R>, request?: R) => {
      const found = ask(known(registry, framework, 'one'), request);
      refuseDeclined(framework.name, found);
      return accepted<M, D, R>(params, found)[0] ?? noneAvailable(framework.name, found);
    },
    many: <M, D, R>(framework: Framework<M, D, R>, request?: R) => {
      const found = ask(known(registry, framework, 'many'), request);
      refuseDeclined(framework.name, found);
      return Object.freeze(accepted<M, D, R>(params, found));
    },
    keyed: <M, D, R>(framework: Framework<M, D, R>) => {
      return createKeyed<M, D, R>(registry, params, ask, known(registry, framework, 'keyed'));
    },
    explain: (frameworkName: string, request?: unknown) => ask(frameworkName, request),
  });
}

function createKeyed<M, D, R>(registry: Registry, params: Params, ask: Ask, name: string): Keyed<M, D, R> {
  const list = selectionList(listOrigin(params, name).items);
  const names = registry.components(name).map((component) => component.name);
  return Object.freeze({
    kinds: Object.freeze(names.filter((kind) => exclusion(list, kind) === undefined)),
    create: (kind: string, deps: D, request: R) => {
      const found = ask(name, request, kind);
      const [candidate] = found.candidates;
      assert(candidate !== undefined, `component ${name}:${kind} was asked`);
      refuseUnlessAccepted(name, candidate, found.list);
      return selected<M, D, R>(params, candidate).create(deps, request);
    },
    best: (request: R) => {
      const found = ask(name, request);
      const [first] = accepted<M, D, R>(params, found);
      if (first !== undefined) return first;
      refuseDeclined(name, found);
      return noneAvailable(name, found);
    },
  });
}

function accepted<M, D, R>(params: Params, { candidates }: Candidates): Selected<M, D, R>[] {
  return candidates.filter(({ verdict }) => verdict === 'accepted').map((each) => selected<M, D, R>(params, each));
}

function selected<M, D, R>(params: Params, candidate: Candidate): Selected<M, D, R> {
  // The framework's record ties the types; the registry holds components of all types side by side.
  const component = candidate.component as Component<M, D, R>;
  return {
    component,
    priority: candidate.priority ?? 0,
    reason: candidate.reason,
    create: (deps, request) => component.create(deps, componentParams(params, component), request),
  };
}

function known(registry: Registry, framework: AnyFramework, mode: SelectionMode): string {
  assert(registry.framework(framework.name).mode === mode, `framework ${framework.name} is of mode ${mode}`);
  return framework.name;
}

/** Never a silent fallback from what the user named. */
function refuseDeclined(frameworkName: string, { candidates, list }: Candidates): void {
  const declined = candidates.find(({ named, verdict }) => named && verdict === 'declined');
  if (declined !== undefined) refuseUnlessAccepted(frameworkName, declined, list);
}

function refuseUnlessAccepted(frameworkName: string, candidate: Candidate, list: ListOrigin): void {
  if (candidate.verdict === 'accepted') return;
  refuseWrong([candidate]);
  const name = candidate.component.name;
  const from = candidate.named || candidate.verdict === 'excluded' ? `, ${listText(frameworkName, list)}` : '';
  const message = candidate.verdict === 'declined'
    ? `${frameworkName} component ${name} was asked for but cannot be used: ${candidate.reason}${from}. `
      + 'Choose another one, or correct what it names.'
    : `${frameworkName} component ${name} was asked for and is ${candidate.reason}${from}. Change the list.`;
  const data = { name: `${frameworkName}:${name}`, reason: candidate.reason ?? '' };
  throw new StciError('STCI_MCA_COMPONENT_DECLINED', message, { data });
}

function listText(frameworkName: string, { items, source, origin }: ListOrigin): string {
  return `${frameworkName} = ${quote(items.join(','))} (${origin === undefined ? source : `${source}, ${origin}`})`;
}

/** A request that is wrong in itself is refused with its own message and code, which name no component. */
function refuseWrong(candidates: readonly Candidate[]): void {
  for (const { code, reason } of candidates) if (code !== undefined) throw new StciError(code, `${reason}.`);
}

function noneAvailable(frameworkName: string, { candidates, list }: Candidates): never {
  refuseWrong(candidates);
  const reasons = candidates.map(({ component, reason }) => `${component.name}: ${reason}`);
  const why = reasons.length === 0 ? 'it has no components' : reasons.join('; ');
  const from = list.items.length === 0 ? '' : ` with ${listText(frameworkName, list)}`;
  const message = `No ${frameworkName} component can be used${from}: ${why}. `
    + `\`stci info ${frameworkName} --why\` shows each.`;
  throw new StciError('STCI_MCA_NONE_AVAILABLE', message, { data: { name: frameworkName } });
}
