/**
 * Checkers are independent of the runtime: they compare what the front-end received with what the simulated kernel
 * knows and with what the programs must do. Each returns its findings as text.
 */

import { checkAgreement } from './check-agreement.js';
import { checkBootstrap } from './check-bootstrap.js';
import { checkMpi } from './check-mpi.js';
import { checkOutcome } from './check-outcome.js';
import { checkOutput } from './check-output.js';
import { checkReport, hasAgentFault } from './check-report.js';
import { checkTalk } from './check-talk.js';
import type { JobEvent } from '@stci/interface';
import { describe } from '../scenarios/faults.js';
import { hitsFrontEnd } from '../scenarios/scenario.js';
import type { Run } from '../worlds/run.js';

export type Checker = (run: Run) => readonly string[];

const SHOWN_MAX = 5;

/** All checkers, by name. */
export const CHECKERS: Readonly<Record<string, Checker>> = {
  liveness: checkLiveness,
  processes: checkProcesses,
  faults: checkFaults,
  events: checkEvents,
  memory: checkMemory,
  wire: ({ wire }) => wire.problems,
  output: checkOutput,
  report: checkReport,
  outcome: checkOutcome,
  bootstrap: checkBootstrap,
  agreement: checkAgreement,
  talk: checkTalk,
  mpi: checkMpi,
};

export function checkRun(run: Run): string[] {
  return Object.entries(CHECKERS).flatMap(([name, check]) => {
    const problems = check(run);
    const more = problems.length > SHOWN_MAX ? [`${name}: and ${problems.length - SHOWN_MAX} more`] : [];
    return [...problems.slice(0, SHOWN_MAX).map((problem) => `${name}: ${problem}`), ...more];
  });
}

export function wasFrontEndKilled(run: Run): boolean {
  return run.faults.some(({ step }) => hitsFrontEnd(step));
}

/** The job ends and reports, or its front-end was killed. */
function checkLiveness(run: Run): string[] {
  const { record } = run;
  const problems: string[] = [];
  if (!run.isOver) {
    const last = record.events.at(-1)?.type ?? 'nothing';
    problems.push(`the job neither ended nor reported; its last event was '${last}'`);
  }
  const isSilent = run.isOver && record.report === undefined && !wasFrontEndKilled(run);
  if (isSilent) problems.push('the front-end ended without a report');
  if (record.lateCalls > 0) problems.push(`${record.lateCalls} calls after onStopped`);
  if (run.leftEvents > 0) problems.push(`${run.leftEvents} timers or calls were left after onStopped`);
  if (!run.isQuiet) problems.push('the world does not become idle');
  return problems;
}

/** The job could not wait for all of its tools: hosts were lost, or the user killed it. */
function isForced(run: Run): boolean {
  const isKilled = run.options.controls.some((control) => control.kind === 'interrupt' && control.kill);
  const isLost = run.record.report?.ranks.some(({ outcome }) => outcome === 'lost') ?? false;
  return isKilled || isLost || hasAgentFault(run);
}

/** Nothing is left running, and every process was waited for. */
function checkProcesses(run: Run): string[] {
  const problems: string[] = [];
  if (run.isOver) {
    problems.push(...run.orphans.map((process) => `alive after the end: ${describe(process)}`));
  }
  for (const process of run.world.processes()) {
    if (process.state === 'reaped' || !run.isOver) continue;
    problems.push(`${process.state} at the end: ${describe(process)}`);
  }
  if (isForced(run)) return problems;
  return [...problems, ...run.toolsAtReport.map((text) => `alive when the job was reported as ended: ${text}`)];
}

/** No exception: neither out of a callback, nor caught and logged by a dispatcher. */
function checkFaults(run: Run): string[] {
  const words = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
  const thrown = run.world.faults.map(({ error }) => `thrown: ${words(error)}`);
  const logged = run.world.logLines
    .filter(({ text }) => /\n\s+at |STCI_INTERNAL/.test(text))
    .map(({ task, text }) => `${task} logged: ${text}`);
  return [...thrown, ...logged];
}

/** Each event is reported once: each rank counted once, each host up once, one `ending`, one `ended`. */
function checkEvents(run: Run): string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  let isEnded = false;
  for (const event of run.record.events) {
    const key = eventKey(event);
    if (isEnded) problems.push(`'${key}' after the end`);
    if (seen.has(key) && !mayRepeat(run, event)) problems.push(`'${key}' was reported twice`);
    seen.add(key);
    isEnded ||= event.type === 'ended';
  }
  return problems;
}

/** A host may come up more than once, and the job is mapped anew where it runs on other hosts than planned. */
function mayRepeat(run: Run, event: JobEvent): boolean {
  // Ranks that had not started when their host was lost are started on others.
  if (event.type === 'mapped' && hasAgentFault(run)) return true;
  const { 'errmgr.launch': launch, 'errmgr.loss': loss, errmgr } = run.options.settings;
  if (launch === undefined && loss === undefined && errmgr !== 'restart') return false;
  return ['host-up', 'mapped', 'recovery'].includes(event.type);
}

function eventKey(event: JobEvent): string {
  switch (event.type) {
    case 'host-up':
      return `host-up ${event.host}`;
    case 'started':
      return `started ${event.rank} ${event.attempt ?? 1}`;
    case 'restarting':
      return `restarting ${event.report.rank} ${event.attempt}`;
    case 'exited':
      return `exited ${event.report.rank}`;
    case 'failure': {
      const { code, host, rank, message, failure } = event.error;
      return `failure ${failure ?? `${code} ${host ?? ''} ${rank ?? ''} ${message}`}`;
    }
    case 'warning':
      return `warning ${event.text}`;
    case 'recovery':
      return `recovery ${event.host} ${event.action}`;
    case 'member':
      return `member ${event.change} ${event.host} ${event.wallMs}`;
    case 'mark':
      return `mark ${event.rank} ${event.name} ${event.wallMs}`;
    case 'mpi':
      return `mpi ${event.protocol}`;
    case 'failure-record':
      return `record ${event.record.failure}`;
    case 'mapped':
      return event.spawned === undefined ? 'mapped' : `mapped with ${event.spawned.first}`;
    case 'running':
    case 'ending':
    case 'ended':
      return event.type;
  }
}

/** Largest window of a session agent. */
const CREDIT_BYTES_MAX = 4 * 1024 * 1024;

/** Output that was not released never goes over the window. */
function checkMemory(run: Run): string[] {
  const { hosts, settings } = run.options;
  const windowBytes = Number(settings['iof.window'] ?? 16 * 1024 * 1024);
  const bound = Math.min(windowBytes, hosts * CREDIT_BYTES_MAX);
  const { unreleasedBytesMax } = run.record;
  if (unreleasedBytesMax <= bound) return [];
  return [`${unreleasedBytesMax} bytes were unreleased at once; the window allows ${bound}`];
}
