/**
 * What Slurm says of hosts and of the allocation, asked after a refusal only. Each question has a deadline: a slurmctld
 * that does not answer is not waited for.
 */

import type { Platform, Process } from '@stci/interface';
import { askEnvironment } from './environment.js';
import { LineReader } from './lines.js';
import { nodeVerdict } from './node-state.js';
import { hostsOf } from './words.js';

const ANSWER_CHARS_MAX = 1024 * 1024;

export type AskPlatform = { readonly [key in 'clock' | 'processes' | 'env']: Platform[key] };

/** Runs a program; `done`, once, gets its output, or undefined if it fails or takes longer. */
export function ask(
  { clock, processes, env }: AskPlatform,
  command: readonly [string, ...string[]],
  deadlineMs: number,
  done: (output: string | undefined) => void,
): void {
  const [program, ...args] = command;
  let [output, isOver, ended, status] = ['', false, false, -1];
  const reader = new LineReader(({ task, text }) => {
    if (output.length < ANSWER_CHARS_MAX) output += task === undefined ? `${text}\n` : `${task}: ${text}\n`;
  });
  const finish = (answer: string | undefined): void => {
    if (isOver) return;
    isOver = true;
    timer.cancel();
    done(answer);
  };
  const finishOnce = (): void => {
    if (ended && status >= 0) finish(status === 0 ? output : undefined);
  };
  const child: Process = processes.spawn({
    program, args, env: askEnvironment(env.variables),
    stdin: 'null', stdout: 'pipe', stderr: 'null', lifetime: 'guarded',
  }, {
    onError: () => finish(undefined),
    onOutput: (_stream, chunk) => reader.push(chunk),
    onOutputEnd: () => {
      reader.end();
      ended = true;
      finishOnce();
    },
    onStdinDrain: () => undefined,
    onStdinClosed: () => undefined,
    onExit: (end) => {
      status = end.status ?? 255;
      finishOnce();
    },
  });
  child.readable(true);
  const timer = clock.after(deadlineMs, () => {
    child.signal('SIGKILL', 'group');
    finish(undefined);
  });
}

/** Hosts in a bad state, with Slurm's words, in the output of `sinfo -h -N -o '%N|%T|%E'`. Pure. */
export function badNodes(output: string): Map<string, string> {
  const bad = new Map<string, string>();
  for (const line of output.split('\n')) {
    const [name = '', state = '', reason = ''] = line.split('|').map((word) => word.trim());
    const verdict = nodeVerdict(state);
    if (verdict === 'works' || verdict === 'drains') continue;
    const silent = state.includes('*') ? ' (it does not respond)' : '';
    const why = reason === '' || reason === 'none' ? '' : `, reason: ${reason}`;
    bad.set(name, `Slurm has it as ${state.replace(/[*]/g, '')}${silent}${why}`);
  }
  return bad;
}

/** State and hosts of a job, in the output of `squeue -h -o '%T|%N|%r'`; undefined if there is no such job. Pure. */
export function jobState(output: string): { readonly state: string; readonly hosts: readonly string[] } | undefined {
  const [state = '', list = ''] = (output.split('\n')[0] ?? '').split('|').map((word) => word.trim());
  return state === '' ? undefined : { state, hosts: hostsOf(list) };
}
