/** Asks Slurm's programs of a job and its nodes, all at once, each within the deadline; and looks for `--no-kill`. */

import { execFile } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { foldHostlist } from '@stci/core';
import { askEnvironment, slurmProgram } from '@stci/launcher-slurm';
import { JOB_FORMAT, NODE_FORMAT, STEP_FORMAT } from './slurm-answers.js';
import type { Answer, SlurmAnswers } from './slurm-report.js';

/** A line for each partition of a node: 10,000 nodes in 10 of them. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** More would be no argument; Slurm then tells all nodes. */
const NAMES_CHARS_MAX = 100_000;
const ANCESTORS_MAX = 64;
/** Options of sbatch stand before the first command of a script. */
const SCRIPT_BYTES_MAX = 64 * 1024;

/** `client`: srun, beside which Slurm's other programs are. */
export async function askSlurm(
  client: string, job: string, hosts: readonly string[], deadlineMs: number,
): Promise<SlurmAnswers> {
  const names = foldHostlist(hosts);
  const chosen = names.length > NAMES_CHARS_MAX ? [] : [`--nodes=${names}`];
  const ask = (program: string, ...args: string[]): Promise<Answer> => {
    return run(slurmProgram(client, program), args, deadlineMs);
  };
  const [squeue, steps, sinfo, srun] = await Promise.all([
    ask('squeue', '--noheader', '--all', `--jobs=${job}`, '--states=all', `--format=${JOB_FORMAT}`),
    ask('squeue', '--noheader', '--all', '--steps', `--jobs=${job}`, `--format=${STEP_FORMAT}`),
    ask('sinfo', '--noheader', '--all', '--Node', ...chosen, `--format=${NODE_FORMAT}`),
    run(client, ['--version'], deadlineMs),
  ]);
  return { job, squeue, steps, sinfo, srun, noKill: noKillSeen(process.env) };
}

function run(program: string, args: readonly string[], deadlineMs: number): Promise<Answer> {
  const bounds = { timeout: deadlineMs, maxBuffer: ANSWER_BYTES_MAX };
  const env = askEnvironment(process.env as Record<string, string>);
  const options = { ...bounds, env, encoding: 'utf8', killSignal: 'SIGKILL' } as const;
  return new Promise((resolve) => {
    execFile(program, args, options, (error, text, words) => {
      if (error === null) resolve({ text });
      else if (error.code === 'ENOENT') resolve({ failure: 'absent', words: '' });
      else resolve({ failure: error.killed === true ? 'late' : 'failed', words: words === '' ? error.message : words });
    });
  });
}

/**
 * Slurm keeps whether a job was made with `--no-kill`, but none of its programs tells it (22.05, 24.11). It is seen in
 * the variables that stand for the option, in the command line of the salloc above this process, and in the script of
 * the batch job above it.
 */
function noKillSeen(variables: NodeJS.ProcessEnv): string | undefined {
  const variable = ['SALLOC_NO_KILL', 'SBATCH_NO_KILL'].find((name) => variables[name] !== undefined);
  if (variable !== undefined) return variable;
  try {
    let pid = String(process.ppid);
    for (let i = 0; i < ANCESTORS_MAX && Number(pid) > 1; i += 1) {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const found = noKillOf(words, head);
      if (found !== undefined) return found;
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      pid = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '0';
    }
  } catch {
    // Another user's, or no /proc: nothing is seen.
  }
  return undefined;
}

/** The `--no-kill` of a command line above this process. */
export function noKillOf(words: readonly string[], read: (path: string) => string): string | undefined {
  const [program = '', ...rest] = words;
  if (/(^|\/)salloc$/.test(program)) return hasOption(rest) ? 'in the command line of salloc' : undefined;
  const script = words.find((word) => /\/job\d+\/slurm_script$/.test(word));
  if (script === undefined) return undefined;
  const options = read(script).split('\n').filter((line) => /^#SBATCH\s/.test(line));
  return options.some((line) => hasOption(line.split(/\s+/).slice(1))) ? 'in the batch script' : undefined;
}

/** Whether words of salloc or sbatch have `-k`, also behind letters without a value, or its long form; not `=off`. */
function hasOption(words: readonly string[]): boolean {
  for (const [i, word] of words.entries()) {
    if (word === '-k' || word === '--no-kill') return true;
    const before = words[i - 1] ?? '';
    // A value stands behind its option; the first other word is the command.
    if (!word.startsWith('-') && !/^-[^-]$|^--[^=]+$/.test(before)) return false;
  }
  return false;
}

function head(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(SCRIPT_BYTES_MAX);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
