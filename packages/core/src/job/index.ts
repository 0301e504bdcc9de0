/** Jobs, pure: hosts, map, books, exit rule. */

export { decideExit, errorExitCode, failureOf, failuresInOrder, processExitCode } from './exit-rule.js';
export type { ExitDecision, RankEnding } from './exit-rule.js';
export { FAILURES_MAX, createLedger } from './ledger.js';
export type { Entry, Ledger, LedgerInit, RankEnd } from './ledger.js';
export { appCount, mapJob } from './map.js';
export type { JobLimits } from './map.js';
export { hostOf, localSize, placements, placementsOf, ranksOf } from './placement.js';
export type { PlacementLookup } from './placement.js';
export { signalExitCode, signalNumber } from './signals.js';
export { THIS_MACHINE } from './slots.js';
