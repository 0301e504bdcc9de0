/**
 * The modular component architecture ("mca"): registry, selection, built-in components, description. Without
 * container.ts, which is loaded late.
 */

export { paramProblem } from './build-catalog.js';
export { parametersDocument } from './document.js';
export { describe, parseInfoTarget } from './info.js';
export type { ConfigFile, DescribeOptions, Info, InfoFramework } from './info.js';
export { infoOverview, infoText } from './info-text.js';
export { createRegistry } from './registry.js';
export type { Registry, RegistryInit } from './registry.js';
export { createSelector } from './selector.js';
export type { Selector } from './selector.js';
export { token } from './token.js';
