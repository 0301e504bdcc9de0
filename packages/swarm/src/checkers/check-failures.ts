/** What must hold of failures: who is told of what, who goes, who stays. By processes, witnesses and events. */

import type { FailureRecord } from '@stci/interface';
import type { FailurePlan } from '../scenarios/failure-plan.js';
import { hostName } from '../scenarios/job-spec.js';
import { hostsAbove, plannedParents } from '../scenarios/launcher-random.js';
import { hostsOf, stepsOf, type Step } from '../scenarios/scenario.js';
import type { FailureRun, QuietState } from '../worlds/failure-run.js';
import { eventsOf, type EndedJob } from '../worlds/run-hosts.js';
import { checkStabilization } from '../worlds/stabilization.js';
import type { MemberKey } from '../worlds/witness.js';
import { agreementProblems, linesOf } from './check-agreement.js';
import { judgedProblems } from './check-judged.js';
import { talkProblems } from './check-talk.js';

type Checker = (run: FailureRun, quiet: QuietState) => string[];

export function checkFailures(run: FailureRun): string[] {
  const { quiet, readyMs, problems, plan: { faults } } = run;
  const found = [...problems];
  if (quiet !== undefined) {
    for (const [name, check] of Object.entries(FAILURE_CHECKERS)) {
      found.push(...check(run, quiet).map((problem) => `${name}: ${problem}`));
    }
  } else if (readyMs !== undefined || faults.every(({ during }) => during === undefined)) {
    found.push('the session was not watched to its end');
  }
  return found;
}

/** What can be seen before witnesses send to each other, and must hold of each moment in which all is well. */
export function checkSettled(run: FailureRun, quiet: QuietState): string[] {
  const all = Object.values(FAILURE_CHECKERS).filter((check) => check !== checkRoutes && check !== checkJudged);
  return all.flatMap((check) => check(run, quiet));
}

export const FAILURE_CHECKERS: Readonly<Record<string, Checker>> = {
  accuracy: checkAccuracy,
  decision: checkDecision,
  completeness: checkCompleteness,
  routes: checkRoutes,
  records: checkRecords,
  agreement: checkAgreed,
  talk: checkTalked,
  end: checkEnd,
  stabilization: checkStabilization,
  repeats: checkRepeats,
  judged: checkJudged,
};

export function recordsOf({ history }: Pick<FailureRun, 'history'>): FailureRecord[] {
  return eventsOf(history).flatMap((event) => (event.type === 'failure-record' ? [event.record] : []));
}

/** The shortest standstill or silence after which a host may be given up; Infinity: whatever happens, none may be. */
function toleranceMs({ settings }: FailurePlan): number {
  const names = (settings['detector'] as string).split(',').filter((name) => name !== 'witness');
  const msOf = (name: string, param: string): number =>
    Number.parseInt(settings[`detector.${name}.${param}`] as string, 10);
  // Where a plan that was made smaller states none: any.
  const each = names.map((name) => (name === 'swim' ? 0 : (msOf(name, 'timeout') - msOf(name, 'period')) / 2 || 0));
  return Math.min(Number.parseInt(settings['bootcom.lease'] as string, 10) / 2, ...each);
}

/** Then all agents have been told that the launch is over. */
const TOLD_MS = 20;

/** Hosts to which something happened for which they may be given up; undefined: messages took longer than promised. */
function disturbed(plan: FailurePlan): Set<number> | undefined {
  const tolerance = toleranceMs(plan);
  const hosts = new Set<number>();
  // While the session is launched, agents end with their parents.
  const ofLaunch = stepsOf(plan.faults, 'launch');
  const ofRun = stepsOf(plan.faults, 'run');
  if ([...ofLaunch, ...ofRun].some(isOfAll)) return undefined;
  addBelow(plan, ofLaunch.flatMap(hostsOf), hosts);
  for (const step of ofRun) {
    // The end of a short one links some of those that a long one cuts off: others there lose their parents for good.
    const isOneOfSeveral = step.kind === 'part' && ofRun.some((one) => one.kind === 'part' && one !== step);
    const isEarly = step.atMs < TOLD_MS;
    const isLong = isEarly || isOneOfSeveral
      || !('durationMs' in step) || step.durationMs === undefined || step.kind === 'crash'
      || step.durationMs >= tolerance;
    if (isLong) for (const host of hostsOf(step)) hosts.add(host);
  }
  addBelow(plan, ofRun.filter(({ atMs }) => atMs < TOLD_MS).flatMap(hostsOf), hosts);
  for (const host of belowSeveral(plan)) hosts.add(host);
  return hosts;
}

/**
 * Agents below two that fail, with an overlay and detectors below three, are reached when these are given up: their
 * leases may end before. So they may with both where the second fails while the first is being found: who would have
 * found it may be the second, which is found a lease later itself.
 */
function belowSeveral({ settings, hosts: count, faults }: FailurePlan): number[] {
  const parents = plannedParents(count, settings);
  const leaseMs = Number.parseInt(settings['bootcom.lease'] as string, 10);
  const msOf = (name: string, param: string): number =>
    Number.parseInt(settings[`detector.${name}.${param}`] as string, 10);
  // A detector that asks while somebody waits alone finds nobody in time, nor one that suspects for several periods
  // before it tells, or leaves too little of the lease to ask those on the way; one whose notices follow the boot tree
  // tells nobody past an agent above that is not known to be dead.
  const hasDetector = (settings['detector'] as string).split(',').some((name) =>
    !['witness', 'sporadic', 'swim'].includes(name) && settings[`detector.${name}.notifier`] !== 'tree'
    && msOf(name, 'timeout') + msOf(name, 'period') <= leaseMs / 2);
  const tolerated = settings['overlay.topology'] !== undefined && hasDetector ? 2 : 1;
  const failedMs = new Map<number, number>();
  for (const step of stepsOf(faults, 'run')) {
    for (const host of cutOff(step, parents)) failedMs.set(host, failedMs.get(host) ?? step.atMs);
  }
  const all = Array.from({ length: count }, (_, host) => host);
  return all.filter((host) => {
    const times = [host, ...hostsAbove(parents, host)].flatMap((each) => failedMs.get(each) ?? []);
    const apartMs = Math.max(...times) - Math.min(...times);
    return times.length > tolerated || (times.length === tolerated && apartMs > 0 && apartMs < leaseMs);
  });
}

/** Who is failed or cut off by it, in the boot tree. */
function cutOff(step: Step, parents: readonly (number | undefined)[]): readonly number[] {
  if (step.kind === 'slow') return [];
  const hosts = hostsOf(step);
  if (step.kind !== 'cut') return hosts;
  return hosts.filter((host) => step.victim.ends.includes((parents[host] ?? -1) + 1));
}

/** The controller asks all others, and takes its own standstill for theirs. */
function isOfAll(step: Step): boolean {
  return step.kind === 'slow' || (step.kind === 'pause' && hostsOf(step).length === 0);
}

/** Adds `hit` and the hosts below them by the plan. */
function addBelow({ settings, hosts: count }: FailurePlan, hit: readonly number[], hosts: Set<number>): void {
  const parents = plannedParents(count, settings);
  for (const host of parents.keys()) {
    if ([host, ...hostsAbove(parents, host)].some((each) => hit.includes(each))) hosts.add(host);
  }
}

/** Nobody is declared dead who lives, and whose messages took no longer than promised. */
function checkAccuracy(run: FailureRun, { hosts }: QuietState): string[] {
  const may = disturbed(run.plan);
  if (may === undefined) return [];
  return hosts.filter(({ host, state, incarnation }) => (state !== 'up' || incarnation !== 1) && !may.has(host))
    .map(({ host, state, incarnation }) => {
      const record = recordsOf(run).find(({ hostName: name }) => name === hostName(host));
      const why = record === undefined ? 'no record' : `${record.detector} ${record.evidence}`;
      return `host ${host} is ${state}, incarnation ${incarnation}: ${why}`;
    });
}

/** Who was given up does not go on, neither it nor its tools; who was not, does. */
function checkDecision({ plan, witness }: FailureRun, { hosts, agents, tools }: QuietState): string[] {
  const watched = [...witness.views.keys()].map((member) => member.split('#')[0]);
  return hosts.flatMap(({ host, state }) => {
    const name = hostName(host);
    const count = agents.filter((each) => each === name).length;
    const tooled = tools.includes(name) && state !== 'up' ? [`host ${host} is ${state}, and has tools`] : [];
    // Of agents that are started together one that nobody reached waits for its parent until the session's end.
    const waits = plan.settings['launcherproc'] === 'together' && state !== 'up' && !watched.includes(`${host + 1}`);
    const isRight = count === (state === 'up' ? 1 : 0) || (waits && count === 1);
    return isRight ? tooled : [...tooled, `host ${host} is ${state}, and has ${count} agents`];
  });
}

function membersOf({ hosts }: QuietState): Set<MemberKey> {
  const up = hosts.filter(({ state }) => state === 'up');
  return new Set(['0#0', ...up.map(({ host, incarnation }): MemberKey => `${host + 1}#${incarnation}`)] as MemberKey[]);
}

/** Every survivor knows of every death, and of everybody who lives. */
function checkCompleteness({ witness }: FailureRun, quiet: QuietState): string[] {
  const members = membersOf(quiet);
  return [...members].flatMap((by) => {
    const view = witness.views.get(by);
    if (view === undefined) return [`${by} watches nobody`];
    return [
      ...[...view].filter((one) => !members.has(one)).map((one) => `${by} was not told that ${one} is dead`),
      ...[...members].filter((one) => !view.has(one)).map((one) => `${by} believes that ${one} is dead`),
    ];
  });
}

/** Each survivor reaches each other. */
function checkRoutes({ witness }: FailureRun, quiet: QuietState): string[] {
  const members = [...membersOf(quiet)];
  return members.flatMap((by) => members.filter((from) => from !== by && !witness.heard.has(`${by} ${from}`))
    .map((from) => `${from} does not reach ${by}`));
}

/** One record of each failure: of who is dead, and of nobody else but former incarnations. */
function checkRecords(run: FailureRun, { hosts }: QuietState): string[] {
  const keys = recordsOf(run).map(({ failure }) => failure);
  const twice = keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${key} has two records`);
  const gone = hosts.flatMap(({ host, state, incarnation }) => {
    const last = state === 'up' ? incarnation - 1 : incarnation;
    return Array.from({ length: last }, (_, index) => [host, index + 1] as const);
  });
  // Others did not come up, or were lost before they were told to watch.
  const watched = gone.filter(([host, incarnation]) => run.witness.views.has(`${host + 1}#${incarnation}`));
  const [all, lost] = [gone, watched].map((some) => some.map(([host, incarnation]) => `host ${host}#${incarnation}`));
  return [
    ...twice,
    ...(lost as string[]).filter((key) => !keys.includes(key)).map((key) => `${key} has no record`),
    ...keys.filter((key) => key.startsWith('host') && all?.includes(key) === false)
      .map((key) => `${key} lives, with a record`),
  ];
}

/** The job whose ranks agree ended, each rank on a host that stayed with all results; see check-agreement.ts. */
function checkAgreed({ plan, agreed }: FailureRun, quiet: QuietState): string[] {
  if (plan.agree === undefined) return [];
  if (agreed === undefined) return ['the job whose ranks agree did not end'];
  const { rounds } = plan.agree;
  const { lines, well, unwell } = resultsOf(agreed, quiet);
  const short = [...well].filter((rank) => lines.get(rank)?.length !== rounds)
    .map((rank) => `rank ${rank} has ${lines.get(rank)?.length} results of ${rounds}`);
  return [...unwell, ...short, ...agreementProblems(lines, well)];
}

/** That whose ranks talk ended: each call with a result or a loss, the same for all; see check-talk.ts. */
function checkTalked({ plan, talked }: FailureRun, quiet: QuietState): string[] {
  if (plan.talk === undefined) return [];
  if (talked === undefined) return ['the job whose ranks talk did not end'];
  const { lines, well, unwell } = resultsOf(talked, quiet);
  return [...unwell, ...talkProblems(lines, well)];
}

/** What each rank of a job wrote; which ended by themselves, on hosts that stayed, and which there did not. */
function resultsOf({ report: { ranks }, out }: EndedJob, { hosts }: QuietState): {
  readonly lines: ReadonlyMap<number, readonly string[]>; readonly well: ReadonlySet<number>;
  readonly unwell: readonly string[];
} {
  const stayed = new Set(hosts.flatMap(({ host, state, incarnation }) =>
    (state === 'up' && incarnation === 1 ? [hostName(host)] : [])));
  const well = ranks.filter(({ host, outcome, end }) => stayed.has(host) && outcome === 'exited' && end?.status === 0);
  return {
    lines: new Map(ranks.map(({ rank }) => [rank, linesOf(out[rank] ?? '')])),
    well: new Set(well.map(({ rank }) => rank)),
    unwell: ranks.filter((rank) => stayed.has(rank.host) && !well.includes(rank)).map(({ rank, host, outcome, end }) =>
      `rank ${rank} on ${host}, which stayed: ${outcome} ${JSON.stringify(end)}`),
  };
}

/** From the end of its last rank, or of the last fault, a job is over this much later, beside the leases of hosts. */
const END_MS = 3000;
/** After which a host that nobody reaches is given up. */
const END_LEASES = 3;

/** A job whose ranks are all over ends: nothing that may not come is awaited. */
function checkEnd({ plan, brief, calmMs }: FailureRun, { atMs }: QuietState): string[] {
  if (brief === undefined) return [];
  const { ranksOverMs, endedMs } = brief;
  if (ranksOverMs === undefined) return endedMs === undefined ? ['ranks of the brief job have not ended'] : [];
  const mostMs = END_MS + END_LEASES * Number.parseInt(plan.settings['bootcom.lease'] as string, 10);
  const tookMs = (endedMs ?? atMs) - Math.max(ranksOverMs, calmMs);
  const what = endedMs === undefined ? 'has not ended' : 'ended';
  const isLate = endedMs === undefined || tookMs > mostMs;
  return isLate ? [`the brief job ${what} ${tookMs} ms after its last rank; at most ${mostMs} ms`] : [];
}

/** No agent is started, or linked again, more often than the plan says. */
function checkRepeats({ plan, history }: FailureRun, { hosts }: QuietState): string[] {
  const { incarnationMax = Infinity, linksMax = Infinity } = plan;
  const linked = eventsOf(history).flatMap((event) =>
    (event.type === 'member' && event.change === 'linked' ? [event.name] : []));
  const linksOf = (name: string): number => linked.filter((each) => each === name).length;
  return [
    ...hosts.filter(({ incarnation }) => incarnation > incarnationMax)
      .map(({ host, incarnation }) => `host ${host} was started ${incarnation} times; at most ${incarnationMax}`),
    ...[...new Set(linked)].filter((name) => linksOf(name) > linksMax)
      .map((name) => `${name} was linked again ${linksOf(name)} times; at most ${linksMax}`),
  ];
}

/** The run's faults explain its failures; where messages took longer than promised, there may be any. */
function checkJudged(run: FailureRun): string[] {
  const may = disturbed(run.plan);
  return may === undefined ? [] : judgedProblems(run, may);
}
