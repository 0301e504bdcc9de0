/**
 * What must hold of a session, whatever happened in it: every front-end gets each rank's output once and in order, from
 * where the ones before it had got to, or is told how much was dropped; all tell the same end of a job and of each
 * rank; hosts are lost with their agents and not otherwise; the session goes on, and nothing is left of it.
 */

import type { JobReport } from '@stci/interface';
import { endOf } from '../scenarios/programs.js';
import { SPARES, jobOf } from '../scenarios/session-plan.js';
import { killedHosts, nameOf, reportOf, type FrontEndRun, type SessionRun } from '../worlds/session-record.js';
import { checkOutcome } from './check-outcome.js';
import { checkSessionMemory } from './check-session-memory.js';
import { checkShown } from './check-shown.js';

export type SessionChecker = (run: SessionRun) => readonly string[];

/** All checkers, by name. */
export const SESSION_CHECKERS: Readonly<Record<string, SessionChecker>> = {
  liveness: checkLiveness,
  faults: checkFaults,
  ends: checkEnds,
  ranks: checkRanks,
  hosts: checkHosts,
  shown: checkShown,
  memory: checkSessionMemory,
  wire: ({ wire }) => wire.problems,
};

export function checkSession(run: SessionRun): string[] {
  return Object.entries(SESSION_CHECKERS).flatMap(([name, check]) => check(run).map((text) => `${name}: ${text}`));
}

/** Those that showed a job to its end, by the job's index. */
function complete({ frontEnds }: SessionRun): readonly FrontEndRun[] {
  return frontEnds.filter((run) => reportOf(run) !== undefined);
}

function checkLiveness({ stuck, world, frontEnds, status }: SessionRun): string[] {
  if (stuck !== undefined) {
    const living = frontEnds.filter(({ process }) => process.isAlive).map(nameOf);
    const open = status?.jobs.filter(({ state }) => state !== 'ended').map(({ label }) => label) ?? [];
    return [`${stuck} did not come; alive: ${[...living, ...open].join('; ')}`];
  }
  return world.livingProcesses().map(({ host, command }) => `left on ${host}: ${command.join(' ')}`);
}

function checkFaults({ world }: SessionRun): string[] {
  const text = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
  const logged = world.logLines.filter((line) => /\n\s+at |STCI_INTERNAL|bootcom\.queue\.max/.test(line.text));
  return [...world.faults.map(({ error }) => text(error)), ...logged.map((line) => `${line.task}: ${line.text}`)];
}

/** One exit code of a job: in every report, of every process that showed or awaited its end, and in `stci ps`. */
function checkEnds(run: SessionRun): string[] {
  const problems: string[] = [];
  const codes = new Map<number, Map<number, string>>();
  const say = (job: number, code: number | undefined, who: string): void => {
    if (code === undefined) return;
    const known = codes.get(job) ?? new Map<number, string>();
    codes.set(job, known.set(code, who));
  };
  for (const each of complete(run)) {
    const { record, process } = each;
    problems.push(...checkOutcome({ record, frontEnd: process }).map((text) => `${nameOf(each)}: ${text}`));
    say(each.plan.job, record.exitCode, nameOf(each));
  }
  for (const each of run.frontEnds) {
    if (each.plan.kind === 'wait' && each.record.exitCode !== 255) {
      say(each.plan.job, each.process.end?.status, nameOf(each));
    }
  }
  for (const { label, exitCode, state } of run.status?.jobs ?? []) {
    if (state === 'ended') say(Number(label.split(' ')[1]), exitCode, 'stci ps');
  }
  for (const [job, known] of codes) {
    const said = [...known].map(([code, who]) => `${code} by ${who}`).join('; ');
    if (known.size > 1) problems.push(`job ${job} ended with ${said}`);
  }
  return problems;
}

/** Each rank has one end, the same for all; on a host that was not hit it is the program's own. */
function checkRanks(run: SessionRun): string[] {
  const problems: string[] = [];
  const killed = killedHosts(run);
  const ends = new Map<number, string>();
  for (const each of complete(run)) {
    const { ranks } = reportOf(each) as JobReport;
    const { job } = each.plan;
    const text = JSON.stringify(ranks.map(({ rank, host, outcome, end }) => [rank, host, outcome, end]));
    if (text !== (ends.get(job) ?? text)) problems.push(`${nameOf(each)}: other ends of ranks than others got`);
    if (ends.has(job)) continue;
    ends.set(job, text);
    const { app } = jobOf(run.options, job);
    if (new Set(ranks.map(({ rank }) => rank)).size !== app.count || ranks.length !== app.count) {
      problems.push(`${nameOf(each)}: ${ranks.length} ranks are reported of ${app.count}`);
    }
    for (const { rank, host, outcome, end } of ranks) {
      const isOwn = outcome === 'exited' && end?.status === endOf(app).end?.status;
      if (isOwn || killed.has(host)) continue;
      problems.push(`${nameOf(each)}: rank ${rank} on ${host}: ${outcome} ${JSON.stringify(end)}, its host lives`);
    }
  }
  return problems;
}

/**
 * A host is lost if its root agent was killed, and only then; by what the error manager does about it, it is there
 * again. The last job ran on all that are there.
 */
function checkHosts(run: SessionRun): string[] {
  const { status, last, options } = run;
  const killed = killedHosts(run);
  if (status === undefined || last === undefined) return [];
  const { 'errmgr.loss': loss, 'errmgr.loss.retries': retries } = options.settings;
  // A kill may hit the start of an agent, and so each of them one and the same host.
  const kills = options.faults.length;
  const isBack = kills <= (loss === 'start-again' ? Number(retries) : loss === 'use-spare' ? SPARES : -1);
  const problems: string[] = [];
  for (const { spec, state } of status.hosts) {
    const isKilled = killed.has(spec.name);
    const mayBeSpare = loss === 'use-spare' && !isBack;
    const isWrong = state === 'up' ? isKilled && loss === undefined : isBack || !(isKilled || mayBeSpare);
    if (isWrong) problems.push(`${spec.name} is ${state} at the end`);
  }
  const report = reportOf(last);
  if (report?.exitCode !== 0) problems.push(`the last job: ${report?.exitCode}, ${report?.cause?.message}`);
  const used = new Set(report?.ranks.map(({ host }) => host));
  const left = status.hosts.filter(({ state }) => state === 'up').length;
  if (used.size !== left) problems.push(`the last job ran on ${used.size} hosts of ${left} that are left`);
  return problems;
}
