/** Experiments: file, plan, run, history, judgement, report. */

export { treeShape } from './experiment/boot-tree.js';
export type * from './experiment/contracts.js';
export { TRIGGER_EVENTS } from './experiment/contracts.js';
export { INJECTIONS_MAX, checkExperiment, type CheckContext } from './experiment/check.js';
export { parseExperiment } from './experiment/parse.js';
export { EXPERIMENT_SCHEMA, REPEATS_MAX } from './experiment/schema.js';
export { planAll, planRepeats, shapeOf, type Planned, type RepeatShortage } from './experiment/plan.js';
export { injectionName, repeatName } from './experiment/names.js';
export { planText, triggerText, victimsText } from './experiment/plan-text.js';
export { leavesOf } from './experiment/timing.js';
export type * from './history/contracts.js';
export { HISTORY_FORMAT } from './history/contracts.js';
export { encodeRecord, readHistory, readRecords } from './history/jsonl.js';
export { replayProblem } from './history/replay.js';
export type * from './judge/contracts.js';
export { OUTCOMES } from './judge/contracts.js';
export { compareSamples, describe, medianInterval, quantile, wilson, type Shift } from './judge/statistics.js';
export { RunJudge } from './judge/run-judge.js';
export type { Within } from './judge/within.js';
export { judgeRepeat, summarize } from './judge/summary.js';
export { repeatView, type RepeatView } from './judge/repeat-view.js';
export { judgeCheck } from './judge/checks.js';
export { measure, type RepeatMeasures } from './judge/measures.js';
export { searchHosts, type HostLook, type HostSearchInit } from './run/host-search.js';
export type {
  ExperimentClient, ExperimentDriver, LeftBehind, OpenedTarget, RunFacts, RunInit, RunObserver,
} from './run/contracts.js';
export { CLOSE_MS, LEASE_MS, RENEWAL_MS } from './run/repeat-session.js';
export { Runner, type RunResult } from './run/runner.js';
export { reportPage } from './report/page.js';
export { groupsOf, type Group, type ReportRun } from './report/groups.js';
export { compareGroups, comparisonText, type Comparison } from './report/comparison.js';
export { injectionsCsv, repeatsCsv } from './report/csv.js';
