/**
 * The record of one test file: written when its process exits, read by the runner. If the process exits before its
 * suites have ended, the record says so; if it was killed, there is none. Either is a failure: a file passes only with
 * a record of each test.
 */

import { readFileSync, writeFileSync } from 'node:fs';

/** Environment variables from the runner to the test process. */
export const RECORD_VARIABLE = 'STCI_TEST_RECORD';
export const GREP_VARIABLE = 'STCI_TEST_GREP';
/** Inherited by every process that a test starts, so that those left over after the file are found. */
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
  /** False if the process exited before every suite had ended. */
  readonly complete: boolean;
  readonly tests: readonly TestResult[];
  readonly faults: readonly Fault[];
  /** Tests excluded by `--grep`. */
  readonly filtered: number;
}

export function writeRecord(path: string, record: FileRecord): void {
  writeFileSync(path, JSON.stringify(record));
}

/** undefined if there is none or it cannot be read. */
export function readRecord(path: string): FileRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as FileRecord;
  } catch {
    return undefined;
  }
}
