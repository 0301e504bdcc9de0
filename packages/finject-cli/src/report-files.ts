/** What is made of a history, beside it: the report, and its numbers for other programs. */

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { injectionsCsv, reportPage, repeatsCsv, type ReportRun, type RunSummary } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { RUN_FILES } from './run-files.js';

/** Into the directory of the run; earlier ones are replaced. The report's path. Throws STCI_OUTPUT_FAILED. */
export function writeReport(directory: string, run: ReportRun): string {
  const { summary } = run;
  writeWhole(join(directory, RUN_FILES.injections), injectionsCsv(summary));
  writeWhole(join(directory, RUN_FILES.repeats), repeatsCsv(summary));
  writeWhole(join(directory, RUN_FILES.summary), summaryJson(summary));
  const report = join(directory, RUN_FILES.report);
  writeWhole(report, reportPage([run]));
  return report;
}

export function summaryJson(summary: RunSummary): string {
  return `${JSON.stringify(summary, undefined, 2)}\n`;
}

/**
 * A reader finds the former file or the new one, whole. It has what the history has: command lines, parameters, output;
 * only its user can read it. What another user has put in the way of the draft is not followed. Throws
 * STCI_OUTPUT_FAILED.
 */
export function writeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw new StciError('STCI_OUTPUT_FAILED', `${path} cannot be written: ${(thrown as Error).message}.`);
  }
}
