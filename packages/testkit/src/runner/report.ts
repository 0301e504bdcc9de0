/**
 * Output of the runner: a line per file, failures in full with file and test, the slowest files,
 * skipped tests by their reasons, and as the last line `N passed, N failed` (and `, N skipped` if any).
 */

import { basename } from 'node:path';
import type { FileReport } from './run-file.js';

const SLOWEST_SHOWN = 5;
/** Files named with a reason for which tests were skipped. */
const SKIPPED_SHOWN = 12;

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function count(reports: readonly FileReport[]): Totals {
  const tests = reports.flatMap((report) => report.tests);
  const of = (status: string): number => tests.filter((test) => test.status === status).length;
  const faults = reports.reduce((sum, report) => sum + report.faults.length, 0);
  return { passed: of('passed'), failed: of('failed') + faults, skipped: of('skipped') };
}

/** Lines about one file, printed when it has ended. */
export function fileLines(report: FileReport): string[] {
  const { passed, failed, skipped } = count([report]);
  const bad = failed > 0 ? `, ${failed} FAILED` : '';
  const counts = `${passed} passed${bad}${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return [`${failed > 0 ? 'FAIL' : 'ok  '} ${report.file.label}  ${counts}  ${seconds(report.ms)}`];
}

/** Reasons for which tests were skipped, the most frequent one first: a line each, with its files. */
export function skippedLines(reports: readonly FileReport[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, tests } of reports) {
    for (const { status, text = '' } of tests) {
      if (status === 'skipped') files.set(text, [...(files.get(text) ?? []), basename(file.label, '.test.ts')]);
    }
  }
  return [...files].sort(([, a], [, b]) => b.length - a.length).map(([reason, of]) => {
    const counts = [...new Set(of)].sort().map((name) => `${name} ${of.filter((each) => each === name).length}`);
    const more = counts.length > SKIPPED_SHOWN ? `, and ${counts.length - SKIPPED_SHOWN} files more` : '';
    return `skipped ${of.length}: ${reason} (${counts.slice(0, SKIPPED_SHOWN).join(', ')}${more})`;
  });
}

/** Every failure in full, after all files. */
export function failureLines(report: FileReport): string[] {
  const failed = report.tests.filter((test) => test.status === 'failed');
  if (failed.length === 0 && report.faults.length === 0) return [];
  const lines: string[] = [];
  const { label } = report.file;
  for (const test of failed) lines.push('', `FAIL ${label}: ${test.suite} › ${test.name}`, indent(test.text ?? ''));
  for (const fault of report.faults) lines.push('', `FAIL ${label}: [${fault.where}]`, indent(fault.text));
  if (report.output.trim() !== '') lines.push('', `output of ${label}:`, indent(report.output.trimEnd()));
  return lines;
}

export function slowestLine(reports: readonly FileReport[]): string {
  const slowest = [...reports].sort((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN);
  return `slowest: ${slowest.map((report) => `${report.file.label} ${seconds(report.ms)}`).join(', ')}`;
}

export function totalLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function indent(text: string): string {
  return text.split('\n').map((line) => `    ${line}`).join('\n');
}
