/**
 * Imports for the author of a component package, besides the contracts of `@stci/interface`: the framework records and
 * the functions that make component records.
 */

export { accept, decline, defineComponent } from '@stci/interface';
export { bootcomFramework } from './bootcom/framework.js';
export { errmgrFramework, type ErrorManagerDeps } from './errmgr/framework.js';
export { decideOnHost } from './errmgr/host-policy.js';
export { launcherFramework } from './launcher/framework.js';
export { launcherprocFramework } from './launcher/launcherproc-framework.js';
export { topologyFramework } from './topology/framework.js';
export { nextHopAround } from './topology/detour.js';
export {
  TOPOLOGY_ARITY_MAX, TOPOLOGY_SIZE_MAX, checkTopologyInteger, checkTopologyRequest, topologyError,
} from './topology/options.js';
