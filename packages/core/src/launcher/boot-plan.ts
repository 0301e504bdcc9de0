/**
 * The answer of a launcher policy, checked where it enters: it is a tree over the hosts. An error names the policy, the
 * host, what was expected and what came. Pure.
 */

import { StciError, type BootTreePlan, type HostIndex, type HostSpec, type Launcher } from '@stci/interface';
import { TOPOLOGY_ARITY_MAX, show } from '../topology/options.js';

/** Hosts of a cycle that an error names. */
const NAMED_MAX = 8;

/** The policy's tree over `hosts`, at least one. Throws STCI_LAUNCHER_TREE. */
export function bootPlanOf(launcher: Launcher, hosts: readonly HostSpec[]): BootTreePlan {
  try {
    return checkBootPlan(launcher.policy, hosts, launcher.tree(hosts));
  } catch (fault) {
    if (fault instanceof StciError && fault.code === 'STCI_LAUNCHER_TREE') throw fault;
    const text = fault instanceof Error ? fault.message : String(fault);
    throw planError(launcher.policy, `its tree over ${hosts.length} hosts could not be made: ${text}`, fault);
  }
}

/** A copy of a policy's answer, if it is a tree over `hosts`. Throws STCI_LAUNCHER_TREE. */
export function checkBootPlan(policy: string, hosts: readonly HostSpec[], answer: unknown): BootTreePlan {
  const { arity, parents } = Object(answer) as { readonly arity?: unknown; readonly parents?: unknown };
  if ((arity === undefined) === (parents === undefined)) {
    const shown = answer instanceof Promise ? 'a promise: the call must not be async' : show(answer);
    throw planError(policy, `its tree: expected an object with arity or with parents, got ${shown}`);
  }
  if (parents === undefined) {
    if (isIndex(arity, 1, TOPOLOGY_ARITY_MAX)) return { arity };
    throw planError(policy, `its tree: expected an arity in 1..${TOPOLOGY_ARITY_MAX}, got ${show(arity)}`);
  }
  if (!Array.isArray(parents) || parents.length !== hosts.length) {
    const got = Array.isArray(parents) ? `${parents.length}` : show(parents);
    throw planError(policy, `its parents: expected an array with one for each of ${hosts.length} hosts, got ${got}`);
  }
  const checked = Array.from(parents as readonly unknown[], (parent, host) => checkParent(policy, hosts, host, parent));
  checkCycles(policy, hosts, new Map([...checked.entries()].flatMap(([host, parent]) =>
    (parent === undefined ? [] : [[host, parent] as const]))));
  return { parents: checked };
}

function checkParent(
  policy: string, hosts: readonly HostSpec[], host: HostIndex, parent: unknown,
): HostIndex | undefined {
  if (parent === undefined) return undefined;
  const expected = "expected another host's index, or undefined, where the controller starts its agent";
  const name = nameOf(hosts, host);
  if (!isIndex(parent, 0, hosts.length - 1)) {
    throw planError(policy, `parent of ${name}: ${expected}; there are ${hosts.length} hosts, got ${show(parent)}`);
  }
  if (parent === host) throw planError(policy, `parent of ${name}: ${expected}, got the host itself`);
  return parent;
}

/** A host that does not come to the controller along its parents comes to a cycle; the shortest is named. */
function checkCycles(policy: string, hosts: readonly HostSpec[], parents: HostParents): void {
  const cycle = shortestCycle(parents);
  if (cycle === undefined) return;
  const names = [...cycle, cycle[0]!].map((host) => nameOf(hosts, host));
  const shown = names.length > NAMED_MAX + 1 ? [...names.slice(0, NAMED_MAX), '…', names[0]!] : names;
  const text = `its parents: expected a tree from the controller down to each host, got a cycle of ${cycle.length} `
    + `hosts: ${shown.join(', whose parent is ')}`;
  throw planError(policy, text);
}

/** Hosts that are no children of the controller, and their parents. */
type HostParents = ReadonlyMap<HostIndex, HostIndex>;

/** The first of the shortest, from its lowest host along the parents. */
export function shortestCycle(parents: HostParents): HostIndex[] | undefined {
  /** The host from which each was visited first. */
  const visited = new Map<HostIndex, HostIndex>();
  let shortest: HostIndex[] | undefined;
  for (const start of parents.keys()) {
    let at: HostIndex | undefined = start;
    for (; at !== undefined && !visited.has(at); at = parents.get(at)) visited.set(at, start);
    if (at === undefined || visited.get(at) !== start) continue;
    const cycle = [at];
    for (let next = parents.get(at)!; next !== at; next = parents.get(next)!) cycle.push(next);
    if (shortest === undefined || cycle.length < shortest.length) shortest = cycle;
  }
  if (shortest === undefined) return undefined;
  const lowest = shortest.indexOf(shortest.reduce((a, b) => Math.min(a, b)));
  return [...shortest.slice(lowest), ...shortest.slice(0, lowest)];
}

function isIndex(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function nameOf(hosts: readonly HostSpec[], host: HostIndex): string {
  return `host ${host} (${hosts[host]!.name})`;
}

function planError(policy: string, text: string, cause?: unknown): StciError {
  return new StciError('STCI_LAUNCHER_TREE', `launcher ${policy}: ${text}`, { data: { policy }, cause });
}
