/** What is made of a history, beside it: the report, and its numbers for other programs. */

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { injectionsCsv, reportPage, repeatsCsv, type ReportRun } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import type { HeldDirectory } from '@stci/platform-node';
import { jsonText, readReason } from '@stci/stcirun/front-end';
import { RUN_FILES } from './run-files.js';

/** Into the directory of the run; earlier ones are replaced. The report's path. Throws STCI_OUTPUT_FAILED. */
export function writeReport({ path, at }: Pick<HeldDirectory, 'path' | 'at'>, run: ReportRun): string {
  const { summary } = run;
  const write = (name: string, text: string): void => writeWhole(join(path, name), text, join(at, name));
  write(RUN_FILES.injections, injectionsCsv(summary));
  write(RUN_FILES.repeats, repeatsCsv(summary));
  write(RUN_FILES.summary, jsonText(summary));
  write(RUN_FILES.report, reportPage([run]));
  return join(path, RUN_FILES.report);
}

/**
 * A reader finds the former file or the new one, whole. It has what the history has: command lines, parameters, output;
 * only its user can read it. What another user has put in the way of the draft is not followed. `at`:
 * what leads to it, where its directory is held. Throws STCI_OUTPUT_FAILED.
 */
export function writeWhole(path: string, text: string, at = path): void {
  const draft = `${at}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, at);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw new StciError('STCI_OUTPUT_FAILED', `${path} cannot be written: ${readReason(thrown)}.`);
  }
}
