/**
 * The record of one test file: written when its process exits, read by the runner. A process that exits before its
 * suites ended leaves a record that says so; one that was killed leaves none. Either is a failure, so a green file
 * is one that claims its tests one by one.
 */

import { readFileSync, writeFileSync } from 'node:fs';

/** Environment variables by which the runner speaks to the test process. */
export const RECORD_VARIABLE = 'STCI_TEST_RECORD';
export const GREP_VARIABLE = 'STCI_TEST_GREP';
/** Carried on by every process that a test starts: what is left of it after the file is found by it. */
export const MARK_VARIABLE = 'STCI_TEST_FILE';

export interface TestResult {
  readonly suite: string;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly ms: number;
  /** Why it failed or was skipped. */
  readonly text?: string;
}

/** A failure outside any test: a hook, a late exception, an early exit. Counts as one failed. */
export interface Fault {
  readonly where: string;
  readonly text: string;
}

export interface FileRecord {
  readonly pid: number;
  /** False when the process exited before every suite had ended. */
  readonly complete: boolean;
  readonly tests: readonly TestResult[];
  readonly faults: readonly Fault[];
  /** Tests left out by `--grep`. */
  readonly filtered: number;
}

export function writeRecord(path: string, record: FileRecord): void {
  writeFileSync(path, JSON.stringify(record));
}

/** undefined where there is none or it cannot be read. */
export function readRecord(path: string): FileRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as FileRecord;
  } catch {
    return undefined;
  }
}
