/**
 * Runs one test file in its own process, and checks the result: its record must exist, be complete, contain a test, and
 * agree with the exit code; no process may be left over. Any deviation is a fault.
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patient } from '@stci/compliance/patience';
import { GREP_VARIABLE, MARK_VARIABLE, RECORD_VARIABLE, readRecord } from '@stci/compliance/record';
import type { Fault, FileRecord, TestResult } from '@stci/compliance/record';
import { endLeftovers } from './leftovers.js';
import type { TestFile } from './find.js';

const OUTPUT_CHARS_MAX = 200_000;

export interface FileReport {
  readonly file: TestFile;
  readonly tests: readonly TestResult[];
  readonly faults: readonly Fault[];
  /** Output of the process, stdout and stderr in order of arrival; only its end if it was long. */
  readonly output: string;
  readonly ms: number;
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly pid: number | undefined;
  readonly timedOut: boolean;
  readonly output: string;
}

let filesRun = 0;

/** `runMark` is the mark of all that this runner starts. */
export async function runFile(file: TestFile, grep: string | undefined, runMark: string): Promise<FileReport> {
  const startMs = performance.now();
  const directory = mkdtempSync(join(tmpdir(), 'stci-test-'));
  const recordPath = join(directory, 'record.json');
  filesRun += 1;
  const mark = `${runMark}/${filesRun}`;
  try {
    const ended = await runProcess(file, {
      ...process.env,
      NO_COLOR: '1',
      [RECORD_VARIABLE]: recordPath,
      [MARK_VARIABLE]: mark,
      ...(grep !== undefined && { [GREP_VARIABLE]: grep }),
    });
    const leftovers = await endLeftovers(mark);
    const record = readRecord(recordPath);
    const faults = [...judge(file, ended, record, grep), ...leftovers.map(leftoverFault)];
    const ms = performance.now() - startMs;
    return { file, tests: record?.tests ?? [], faults, output: ended.output, ms };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function runProcess(file: TestFile, env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', file.compiled], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let timedOut = false;
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    };
    const end = (code: number | null, signal: string | null): void => {
      clearTimeout(timer);
      // A process left over may hold the pipes open: its output is not awaited.
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ code, signal, pid: child.pid, timedOut, output });
    };
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, patient(file.timeoutMs));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('exit', (code, signal) => setTimeout(end, 100, code, signal));
    child.on('close', end);
  });
}

function judge(
  file: TestFile,
  ended: Ended,
  record: FileRecord | undefined,
  grep: string | undefined,
): Fault[] {
  if (ended.timedOut) return [{ where: 'file', text: `Killed: not done within its ${patient(file.timeoutMs)} ms` }];
  const how = ended.signal === null ? `code ${ended.code}` : `signal ${ended.signal}`;
  if (record === undefined) {
    return [{ where: 'file', text: `It left no count record: does it use @stci/testkit? It ended with ${how}` }];
  }
  const faults = [...record.faults];
  const add = (text: string): number => faults.push({ where: 'file', text });
  if (record.pid !== ended.pid) add(`Its record was written by process ${record.pid}, not by ${ended.pid}`);
  if (!record.complete && faults.length === 0) add('Its suites did not end');
  if (record.tests.length === 0 && grep === undefined && faults.length === 0) add('It ran no test');
  const failed = faults.length > 0 || record.tests.some((test) => test.status === 'failed');
  if (!failed && (ended.code !== 0 || ended.signal !== null)) add(`All tests passed, but it ended with ${how}`);
  return faults;
}

function leftoverFault(left: { readonly pid: number; readonly command: string }): Fault {
  return { where: 'leftovers', text: `It left process ${left.pid} behind (killed now): ${left.command}` };
}
