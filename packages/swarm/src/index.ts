/** Whole jobs in simulation: real agents, drawn options, faults, checkers, replay. */

export { CHECKERS, checkRun, type Checker } from './checkers.js';
export { runJob, makeWorld, type RunHooks, type RunOutcome } from './run-job.js';
export { runHosts, type EndedJob, type HostsOptions, type HostsSession } from './run-hosts.js';
export { drawSession, runSession, type SessionOptions, type SessionRun } from './run-session.js';
export type { Run } from './run.js';
export { drawOptions } from './options.js';
export type { BadHost, ControlPlan, FaultPlan, SwarmOptions, Wishes } from './options.js';
export { type AppPlan } from './programs.js';
export { PLAIN, type Regression } from './plain.js';
export { REGRESSIONS } from './regressions.js';
export {
  USAGE, commitSeed, explore, parseArguments, type Exploration, type ExploreIo, type ExplorePlan,
} from './explore.js';
