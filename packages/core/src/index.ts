export * from './config/index.js';
export * from './job/index.js';
export * from './mca/index.js';
export * from './component.js';
export { agentsPerLevel, childrenOf, criticalPathSteps, planLaunch, starterOf, subtreeHosts } from './launcher/plan.js';
export type { PlannedChild } from './launcher/plan.js';
export { foldRanks, mapJson, planJson, renderMap, renderPlan } from './launcher/render.js';
