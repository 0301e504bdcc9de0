/** The registry, selection, and what core brings to it. */

export { builtins } from './builtin.js';
export type { Candidate, Candidates, Facts, ListOrigin } from './candidates.js';
export { createRegistry } from './registry.js';
export type { Registry, RegistryInit } from './registry.js';
export { createSelector } from './selector.js';
export type { Keyed, Selected, Selector } from './selector.js';
