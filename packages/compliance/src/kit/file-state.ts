/**
 * State of one test process: results so far, the current step, and the handling of the process's end. This and
 * the number of assertions is the only module-global state of this package; each test file has its own process.
 */

import { DeadlineError } from './deadline.js';
import { describe, describeShortly } from './failure.js';
import { patient } from './patience.js';
import { GREP_VARIABLE, RECORD_VARIABLE, writeRecord } from './record.js';
import type { Fault, TestResult } from './record.js';

/** Time for the process to end by itself after the last suite. */
const LINGER_MS = 3_000;

const { setTimeout, clearTimeout } = globalThis;
const now = performance.now.bind(performance);

const tests: TestResult[] = [];
const faults: Fault[] = [];
let filtered = 0;
let suitesOpen = 0;
let suitesEnded = 0;
let running = false;
let drained = false;
let isProgram = false;
let step: { readonly where: string; readonly fail: (error: unknown) => void } | undefined;
let lastStep = 'before any test';

// Removed from the environment: processes that tests start must not write to this file's record.
const recordPath = process.env[RECORD_VARIABLE];
const grep = process.env[GREP_VARIABLE];
delete process.env[RECORD_VARIABLE];
delete process.env[GREP_VARIABLE];

process.on('uncaughtException', (error: unknown, origin) => {
  if (step !== undefined) step.fail(error);
  else fault(`${origin}, ${lastStep}`, error);
});
process.on('beforeExit', () => {
  drained = true;
  // uvu sets 0, which would hide Node's own 13 for a file whose top-level await never settles.
  if (process.exitCode === 0) process.exitCode = undefined;
});
process.on('exit', (code) => {
  const complete = finish(code);
  if (recordPath !== undefined) {
    writeRecord(recordPath, { pid: process.pid, complete, tests, faults, filtered });
  }
});

/** Under the runner, failures are printed from the record; uvu's own output of them is shortened. */
export const underRunner = recordPath !== undefined;

/** The runner prints all of a failure, as whoever sets STCI_DEBUG=1 wants; a component's author needs less. */
export const textOf = underRunner || process.env['STCI_DEBUG'] === '1' ? describe : describeShortly;

/** Whether `--grep` selects a test of this name. */
export function wanted(suiteName: string, testName: string): boolean {
  const asked = grep === undefined || `${suiteName} › ${testName}`.includes(grep);
  if (!asked) filtered += 1;
  return asked;
}

/** Registers a suite. Throws once the suites have begun: a suite registered later would never run. */
export function openSuite(name: string): void {
  if (running) {
    fault(`suite ${name}`, new Error('registered after the suites began: call suite() before any await'));
    throw new Error(`The suite "${name}" was registered after the suites of its file began`);
  }
  suitesOpen += 1;
}

/** This process is a program, which may end without a suite of its own. */
export function standDown(): void {
  isProgram = true;
}

export function beginSuite(): void {
  running = true;
}

export function endSuite(): void {
  suitesEnded += 1;
  if (suitesEnded === suitesOpen) setTimeout(lingers, LINGER_MS).unref();
}

export function addResult(result: TestResult): void {
  tests.push(result);
}

export function fault(where: string, thrown: unknown): void {
  faults.push({ where, text: textOf(thrown) });
}

/**
 * Runs one test or hook under its deadline; an uncaught exception meanwhile also fails it. A body that blocks the timer
 * exceeds the deadline, too. Never rejects: undefined is success, else the thrown value in an object, because `throw
 * undefined` is a failure.
 */
export async function attempt(
  where: string,
  restMs: number,
  body: () => unknown,
): Promise<{ readonly thrown: unknown } | undefined> {
  const timeoutMs = patient(restMs);
  const late = (): DeadlineError => new DeadlineError(`Not done within ${timeoutMs} ms: ${where}`);
  const endMs = now() + timeoutMs;
  let timer: NodeJS.Timeout | undefined;
  const broken = new Promise<never>((_resolve, reject) => {
    step = { where, fail: reject };
    timer = setTimeout(() => reject(late()), timeoutMs);
  });
  try {
    await Promise.race([(async () => body())(), broken]);
    return now() <= endMs ? undefined : { thrown: late() };
  } catch (thrown) {
    return { thrown };
  } finally {
    clearTimeout(timer);
    step = undefined;
    lastStep = `after ${where}`;
  }
}

function lingers(): void {
  const open = [...new Set(process.getActiveResourcesInfo())].join(', ');
  fault('end of file', new Error(`The process did not end ${LINGER_MS} ms after its last test; still open: ${open}`));
  process.exit(1);
}

/** Checks the results when the process exits; returns whether every suite had ended. */
function finish(code: number): boolean {
  if (isProgram && suitesOpen === 0 && faults.length === 0) return true;
  const complete = suitesOpen > 0 && suitesEnded === suitesOpen;
  const at = step === undefined ? lastStep : `in ${step.where}`;
  const ended = `${suitesEnded} of ${suitesOpen} suites had ended`;
  if (!complete && !underRunner && faults.length > 0) {
    // What was thrown says why.
  } else if (!complete) {
    fault('early exit', new Error(`The process exited with code ${code} before its tests ended: ${at}; ${ended}`));
  } else if (!drained && faults.length === 0) {
    fault('early exit', new Error(`process.exit was called, ${at}: a test file ends by itself (${ended})`));
  }
  const failed = faults.length > 0 || tests.some((test) => test.status === 'failed');
  if (failed && !process.exitCode) process.exitCode = 1;
  if (recordPath === undefined) {
    for (const each of faults) process.stderr.write(`FAULT ${each.where}\n${each.text}\n`);
  }
  return complete;
}
