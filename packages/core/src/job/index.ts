/** Jobs, pure: hosts, map, ledger, exit rule. */

export { allocate } from './allocation.js';
export type { AllocationRequest } from './allocation.js';
export { MARK_VARIABLE, RANK_VARIABLES, RESERVED_VARIABLES, rankEnvironment } from './environment.js';
export type { HostContext } from './environment.js';
export { decideExit, errorExitCode, failureOf, failuresInOrder, processExitCode } from './exit-rule.js';
export type { ExitDecision, RankEnding } from './exit-rule.js';
export { HOSTFILE_BYTES_MAX, parseHostfile } from './hostfile.js';
export { HOSTLIST_MAX, SLOTS_MAX, expandHostlist } from './hostlist.js';
export type { HostItem, HostlistSource } from './hostlist.js';
export { foldHostlist, intersectHosts, minusHosts, unionHosts, xorHosts } from './hostset.js';
export { FAILURES_MAX, createLedger } from './ledger.js';
export type { Entry, Ledger, LedgerInit, RankEnd } from './ledger.js';
export { appCount, mapJob } from './map.js';
export type { JobLimits } from './map.js';
export { hostOf, localSize, placements, placementsOf, ranksOf } from './placement.js';
export type { PlacementLookup } from './placement.js';
export { signalExitCode, signalNumber } from './signals.js';
export { THIS_MACHINE } from './slots.js';
export { TIMEOUT_MS_MAX, jobProblems, validateJob } from './validate.js';
