/** Ranks of a real program with a connection to a launcher each; what they said on it, to be kept as a fixture. */

import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One connection: pieces in order, of the client (`>`) and the server (`<`), as hex. */
export type Dialogue = (readonly ['>' | '<', string])[];

export interface RankResult {
  readonly output: string;
  readonly code: number | null;
  readonly signal: string | null;
}

/** Longest time of a run: MPI libraries start slowly on a machine under load. */
const RUN_MS_MAX = 60_000;

export interface StartedRank {
  readonly child: ChildProcess;
  readonly ended: Promise<RankResult>;
}

/** A program with fd 3 as a socket where `stdio` has a fourth. */
export function startRank(
  program: string, args: readonly string[], variables: Readonly<Record<string, string>>, hasSocket: boolean,
): StartedRank {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', ...(hasSocket ? ['pipe' as const] : [])];
  const env = { PATH: '/usr/bin:/bin', HOME: tmpdir(), HWLOC_COMPONENTS: '-gl,-opencl', ...variables };
  const child = spawn(program, args, { cwd: tmpdir(), stdio, env, timeout: RUN_MS_MAX, killSignal: 'SIGKILL' });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  const ended = new Promise<RankResult>((resolve) => {
    child.on('close', (code, signal) => resolve({ output, code, signal }));
  });
  return { child, ended };
}

const RECORD = process.env['STCI_MPI_RECORD'];

/** Writes a run's dialogues into the directory that STCI_MPI_RECORD names. */
export function record(name: string, dialogues: readonly Dialogue[]): void {
  if (RECORD === undefined) return;
  const lines = dialogues.map((dialogue) => dialogue.map(([side, bytes]) => `${side} ${bytes}\n`).join(''));
  writeFileSync(join(RECORD, `${name}.txt`), lines.join('\n'));
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
