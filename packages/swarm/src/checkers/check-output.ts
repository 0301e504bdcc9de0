/**
 * Output: what arrived of a rank's stream is a prefix of what its program writes, byte for byte, and all of it where
 * the rank ended by itself on a host that stayed. Its end is reported once, and nothing follows it.
 */

import type { JobReport } from '@stci/interface';
import { isOutputDetermined } from '../scenarios/programs.js';
import type { StreamRecord } from '../worlds/record.js';
import type { Run } from '../worlds/run.js';
import { restartsOf } from './check-restarts.js';
import { truthOf, type RankTruth } from './truth.js';

const STREAMS = ['stdout', 'stderr'] as const;

export function checkOutput(run: Run): string[] {
  if (restartsOf(run) !== undefined) return []; // See check-restarts.ts.
  const problems: string[] = [];
  const whole = wholeRanks(run);
  for (const truth of truthOf(run)) {
    for (const stream of STREAMS) {
      const problem = checkStream(run, truth, stream, whole.has(truth.rank));
      if (problem !== undefined) problems.push(`rank ${truth.rank} (${truth.app.program}) ${stream}: ${problem}`);
    }
  }
  return problems;
}

/** Ranks whose output must be complete: they ended by themselves, as their program does, and no agent was lost. */
function wholeRanks(run: Run): Set<number> {
  const { report } = run.record;
  if (report === undefined || run.record.stoppedMs === undefined) return new Set();
  const lost = new Set(report.failures.filter(({ code }) => code === 'STCI_AGENT_LOST').map(({ host }) => host));
  const isCut = wasCut(run, report);
  return new Set(
    report.ranks
      .filter(({ outcome, host }) => (outcome === 'exited' || outcome === 'signalled') && !lost.has(host) && !isCut)
      .map(({ rank }) => rank),
  );
}

/** After --timeout and the grace period nothing is awaited for longer. */
const AFTER_TIMEOUT_MS = 5000;

/**
 * An interrupt with KILL does not wait for output that is not read, nor does a job whose agents do not answer, nor one
 * whose time was over long ago.
 */
function wasCut(run: Run, report: JobReport): boolean {
  const isKilled = run.options.controls.some((control) => control.kind === 'interrupt' && control.kill);
  const isLost = report.ranks.some(({ outcome }) => outcome === 'lost');
  // Agents that were killed are mended, and only their own ranks are lost.
  const isEnded = run.record.events.some(({ type }) => type === 'ending');
  const isSilent = run.faults.some(({ step: { kind } }) => kind !== 'kill' && kind !== 'slow');
  const { reportMs = 0 } = run.record;
  // Also where the job was ending already, for another reason.
  const isOverdue = reportMs >= (run.options.timeoutMs ?? Infinity) + AFTER_TIMEOUT_MS;
  return isKilled || isOverdue || (isLost && (isEnded || isSilent));
}

function checkStream(run: Run, truth: RankTruth, stream: 'stdout' | 'stderr', isWhole: boolean): string | undefined {
  const record = run.record.streams.get(`${truth.rank}/${stream}`);
  if (record !== undefined && record.ends > 1) return `its end was reported ${record.ends} times`;
  if (record !== undefined && record.lateBytes > 0) return `${record.lateBytes} bytes after its end`;
  if (isWhole && record?.ends !== 1) return 'its end was never reported';
  if (!isOutputDetermined(truth.app)) return undefined;
  const expected = truth.expected[stream];
  const problem = compare(record, expected);
  if (problem !== undefined) return problem;
  const isNatural = sameEnd(truth);
  if (isWhole && isNatural && (record?.bytes ?? 0) !== expected.length) {
    return `${record?.bytes ?? 0} bytes arrived of ${expected.length}`;
  }
  return undefined;
}

/** The process ended as its program does by itself. */
function sameEnd({ process, expected }: RankTruth): boolean {
  if (process?.end === undefined || expected.end === undefined) return false;
  return process.end.status === expected.end.status && process.end.signal === expected.end.signal;
}

/** The first difference from what is expected. */
function compare(record: StreamRecord | undefined, expected: Uint8Array): string | undefined {
  let offset = 0;
  for (const chunk of record?.chunks ?? []) {
    for (const byte of chunk) {
      if (byte !== expected[offset]) return `byte ${offset} is ${byte}, expected ${expected[offset] ?? 'the end'}`;
      offset++;
    }
  }
  return undefined;
}
