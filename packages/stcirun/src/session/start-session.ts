/** Starts the process of a session, and follows it until its hosts are up. */

import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isErrorCode, StciError } from '@stci/interface';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { REPORT_FD, SESSION_WORD, type Instruction, type Report } from './instruction.js';
import { LOG_FILE, logText } from './session-log.js';
import type { SessionPlace } from './session-place.js';

const LOG_LINES = 5;

export interface StartSessionInit {
  readonly place: SessionPlace;
  /** Directory of the built programs. */
  readonly programs: string;
  readonly instruction: Omit<Instruction, 'staged'>;
  readonly onStep: (text: string) => void;
  /** Until then; `listening`: the hosts come up while a job is submitted. */
  readonly until: 'listening' | 'ready';
  /** Added to its environment. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** It holds this from then on. */
  readonly allocation?: HeldAllocation | undefined;
}

/** Resolves with the number of hosts that are up; rejects with StciError, and nothing is left. */
export async function startSession(init: StartSessionInit): Promise<number> {
  const { place, programs, instruction, onStep, variables, allocation } = init;
  const staged = place.stage();
  const log = place.openLog(staged);
  const child = spawn(process.execPath, [join(programs, 'stci.cjs'), SESSION_WORD], {
    detached: true,
    cwd: '/',
    env: { ...process.env, ...allocation?.variables, ...variables },
    stdio: ['pipe', log, log, 'pipe', ...(allocation === undefined ? [] : heldStreams(allocation))],
  });
  closeSync(log);
  const whole: Instruction = { ...instruction, staged, ...(allocation !== undefined && { slurmJob: allocation.job }) };
  child.stdin?.on('error', () => undefined).end(JSON.stringify(whole));
  let interrupt: NodeJS.Signals | undefined;
  const end = (signal: NodeJS.Signals): void => {
    interrupt = signal;
    onStep(`${signal}: ending session ${instruction.name}, and what it has started`);
    child.kill('SIGTERM');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  try {
    const up = await follow(child, init, () => interrupt !== undefined);
    child.unref();
    allocation?.leave();
    return up;
  } catch (thrown) {
    // Their end is awaited again.
    allocation?.streams.words.resume();
    if (interrupt !== undefined) throw interrupted(instruction.name, interrupt);
    throw thrown instanceof StciError ? thrown : endedEarly(instruction.name, staged);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, end);
    rmSync(staged, { recursive: true, force: true });
  }
}

/** At KEEP_FD and WORDS_FD. */
function heldStreams({ streams: { keep, words } }: HeldAllocation): readonly [Writable, Readable] {
  words.pause();
  return [keep, words];
}

/** `isEnding`: only its end is awaited. */
function follow(
  child: ChildProcess, { onStep, until }: StartSessionInit, isEnding: () => boolean,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const pipe = child.stdio[REPORT_FD] as NodeJS.ReadableStream & { unref?(): void; destroy(): void };
    const onReport = (report: Report): void => {
      if (report.type === 'step') return onStep(report.text);
      if (isEnding()) return;
      if (report.type === 'failed') {
        return reject(new StciError(isErrorCode(report.code) ? report.code : 'STCI_INTERNAL', report.message));
      }
      if (report.type !== until) return;
      pipe.destroy();
      resolve(report.type === 'ready' ? report.up : 0);
    };
    pipe.setEncoding('utf8');
    pipe.on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) onReport(JSON.parse(line) as Report);
    });
    pipe.on('end', () => reject(new Error('ended')));
    child.on('error', reject);
  });
}

function interrupted(name: string, signal: NodeJS.Signals): StciError {
  const text = `Interrupted by ${signal}: session ${name} is not started.`;
  return new StciError('STCI_JOB_INTERRUPTED', text, { data: { signal } });
}

function endedEarly(name: string, staged: string): StciError {
  const lines = [join(dirname(staged), name), staged].flatMap((directory) =>
    logText(join(directory, LOG_FILE)).trimEnd().split('\n').slice(-LOG_LINES));
  const more = lines.filter((line) => line !== '').map((line) => `\n  ${line}`).join('');
  return new StciError('STCI_LAUNCH_FAILED', `The process of session ${name} ended before its hosts were up.${more}`);
}
