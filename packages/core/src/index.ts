/** The STCI runtime: imports for assemblies, tools and tests of other packages. Components import `./component`. */

export * from './config/index.js';
export * from './job/index.js';
export * from './mca/index.js';
export * from './component.js';
export { integer, list, object, optional, str, u32, type Shape } from './codec/shape.js';
export { bootPlanOf, checkBootPlan, shortestCycle } from './launcher/boot-plan.js';
export { ParentTree, wholePart, type BootTreePart } from './launcher/parent-tree.js';
export { agentsPerLevel, childrenMax, criticalPathSteps, planLaunch, starterOf } from './launcher/plan.js';
export { foldRanks, mapJson, planJson, renderMap, renderPlan } from './launcher/render.js';
export { bootcomComponents } from './bootcom/kinds.js';
export { createFrontEnd, ResidentSession, type FrontEndInit } from './agent/local-session.js';
export type { HostOutcome, HostsChanged, RemoveOptions } from './agent/host-changes.js';
export type { JobFrontEnd } from './agent/front-end.js';
export { createComposition, platformFacts, selectedDetectors } from './agent/compose.js';
export { detectorPromises, promiseText, type NamedPromise } from './detector/promises.js';
export { windowBytesMin } from './agent/job-launch.js';
export { checkFailureParts } from './agent/failure-watch.js';
export { roleFactory } from './agent/start.js';
export { runAgent } from './agent/main.js';
export type { Composition } from './agent/composition.js';
export type { AgentNode, NodeMemory } from './agent/node.js';
export { decode, encode } from './codec/cbor.js';
export { FailureWatch } from './failure/watch.js';
export { notifierDirect } from './notifier/direct.js';
export type { Overlay, OverlayEvents } from './overlay/contracts.js';
