/**
 * Checks that the topology components share: each error names the kind, the option, what was expected and what was
 * given. Options are few, so the error for an unknown one lists them all.
 */

import { StciError } from '@stci/interface';
import type { TopologyRequest } from '@stci/interface';

/** Largest number of positions: the agent addresses of one kind, and the controller. */
export const TOPOLOGY_SIZE_MAX = 0x1000_0000;

/** Largest arity of a tree: beyond it a parent would hold more links than one process should. */
export const TOPOLOGY_ARITY_MAX = 1024;

/** Makes an STCI_TOPOLOGY_INVALID that reads `topology tree: option arity: expected …, got …`. */
export function topologyError(kind: string, what: string, expected: string, got: unknown): StciError {
  return new StciError('STCI_TOPOLOGY_INVALID', `topology ${kind}: ${what}: expected ${expected}, got ${show(got)}`);
}

/** Refuses a size outside 1..TOPOLOGY_SIZE_MAX and unknown option names. */
export function checkTopologyRequest(request: TopologyRequest, known: readonly string[]): void {
  checkTopologyInteger(request.kind, 'size', request.size, 1, TOPOLOGY_SIZE_MAX);
  for (const name of Object.keys(request.options ?? {})) {
    if (known.includes(name)) continue;
    const expected = known.length === 0 ? 'no option at all' : `one of ${known.join(', ')}`;
    throw topologyError(request.kind, 'unknown option', expected, name);
  }
}

/** Returns the value if it is an integer in min..max; else throws STCI_TOPOLOGY_INVALID naming `what`. */
export function checkTopologyInteger(kind: string, what: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw topologyError(kind, what, `an integer in ${min}..${max}`, value);
}

export function show(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
