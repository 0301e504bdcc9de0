/** Whole jobs in simulation: real agents, drawn options, faults, checkers, replay. */

export { CHECKERS, checkRun, type Checker } from './checkers.js';
export { addComponents, resolveSettings } from './assembly.js';
export { MemoryPeaks } from './memory-peaks.js';
export { runJob, makeWorld, type RunHooks, type RunOutcome } from './run-job.js';
export { runHosts, type EndedJob, type HostsOptions, type HostsSession } from './run-hosts.js';
export { agreementProblems } from './check-agreement.js';
export { FAILURE_CHECKERS, checkFailures } from './check-failures.js';
export { CUT_REGRESSIONS } from './regressions-cut.js';
export { END_REGRESSIONS } from './regressions-ends.js';
export { FAILURE_REGRESSIONS, plainFailures } from './regressions-failures.js';
export { drawTree, plannedParents } from './launcher-random.js';
export { drawFailures } from './draw-failures.js';
export type { FailureFault, FailurePlan } from './failure-plan.js';
export { drawStabilization, stabilizationMs, stabilizedMs } from './stabilization.js';
export { runFailures, type FailureOutcome } from './run-failures.js';
export type { FailureRun } from './failure-run.js';
export { SESSION_CHECKERS, checkSession } from './check-session.js';
export { SimulatedDriver, type PlayOutcome, type SimulationInit } from './experiment-driver.js';
export { SimulatedRun, type SimulatedRunInit } from './experiment-run.js';
export { drawExperiment, type DrawnExperiment } from './draw-experiment.js';
export { runExperiment, type ExperimentOutcome } from './check-experiment.js';
export { checkSimulated, simulatedPrograms, type SimulatedTarget } from './experiment-target.js';
export { runSession } from './run-session.js';
export { SESSION_REGRESSIONS, plainSession } from './regressions-sessions.js';
export { drawSession, type FrontEndPlan, type SessionOptions } from './session-plan.js';
export type { FrontEndRun, SessionRun } from './session-record.js';
export type { Run } from './run.js';
export { drawOptions } from './options.js';
export type { BadHost, ControlPlan, FaultPlan, SwarmOptions, Wishes } from './options.js';
export { type AppPlan } from './programs.js';
export { InjectionRun, TERMS, type Experimenter, type InjectionOptions } from './injection.js';
export { PLAIN, type Regression } from './plain.js';
export { REGRESSIONS } from './regressions.js';
export {
  USAGE, commitSeed, explore, parseArguments, type Exploration, type ExploreIo, type ExplorePlan,
} from './explore.js';
