/** Jobs, pure: hosts, map, ledger, exit rule. */

export { JOB_VARIABLES, RANK_VARIABLES, RESERVED_VARIABLES, jobVariables, rankEnvironment } from './environment.js';
export { decideExit } from './exit-rule.js';
export { groupRuns, parseHostGroups } from './host-groups.js';
export { HOSTFILE_BYTES_MAX, parseHostfile } from './hostfile.js';
export { expandHostlist } from './hostlist.js';
export { foldHostlist, foldSorted, intersectHosts, minusHosts, unionHosts, xorHosts } from './hostset.js';
export { environmentOfJob, variablesOfHost } from './slurm-variables.js';
export { FAILURES_MAX, Ledger, type RankEnd } from './ledger.js';
export { mapJob } from './map.js';
export { hostOf, localSize, placements, ranksOf } from './placement.js';
export { signalExitCode, signalNamed, signalNumber } from './signals.js';
export { THIS_MACHINE } from './slots.js';
export { alignColumns, counted, cut, wrapText } from '@stci/registry';
export { jobProblems, validateJob } from './validate.js';
