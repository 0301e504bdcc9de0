/** Tables for other programs: one line a victim of an injection, and one a repeat. RFC 4180, with a header. */

import type { RunSummary } from '../judge/contracts.js';

type Cell = string | number | boolean | undefined;

/** Times in ms; wall times are finject's, ms since 1970. */
export function injectionsCsv({ repeats }: RunSummary): string {
  return table([
    'repeat', 'configuration', 'outcome', 'id', 'fault', 'kind', 'victim', 'injected_wall_ms', 'undone_wall_ms',
    'suspected_wall_ms', 'detected_wall_ms', 'notified_wall_ms', 'recovered_wall_ms', 'detection_ms', 'notification_ms',
    'recovery_ms', 'error_ms', 'notification_error_ms', 'detector', 'subjects',
  ], repeats.flatMap((repeat) => repeat.injections.map((one) => [
    repeat.number, repeat.configuration, repeat.outcome, one.id, one.fault, one.kind, one.victimName, one.injectedMs,
    one.undoneMs, one.suspectedMs, one.detectedMs, one.notifiedMs, one.recoveredMs, one.detectionMs, one.notificationMs,
    one.recoveryMs, one.errorMs, one.notificationErrorMs, one.detector, one.subjects.join('; '),
  ])));
}

export function repeatsCsv({ repeats }: RunSummary): string {
  return table([
    'repeat', 'configuration', 'outcome', 'passed', 'start_wall_ms', 'end_wall_ms', 'duration_ms', 'exit_code',
    'injected', 'detected', 'false_detections', 'failed_checks', 'problems',
  ], repeats.map((one) => [
    one.number, one.configuration, one.outcome, one.isPassed, one.startMs, one.endMs, one.endMs - one.startMs,
      one.exitCode,
    one.injections.filter(({ injectedMs }) => injectedMs !== undefined).length,
    one.injections.filter(({ detectedMs }) => detectedMs !== undefined).length,
    one.falseDetections.join('; '),
    one.checks.filter(({ isPassed }) => !isPassed).map(({ name, text }) => `${name}: ${text}`).join('; '),
    one.problems.join('; '),
  ]));
}

function table(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** A text that a spreadsheet would take for a formula gets an apostrophe: targets write some of them. */
function cell(value: Cell): string {
  if (value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = textOf(value);
  const safe = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** A damaged record may have anything in place of a text, such as an object that has none: { toString: 0 }. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return '(damaged)';
  }
}
