/** Starts the built stcirun as a user would, in a session of its own, and gathers what it says. */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patient } from '@stci/testkit';

export const PROGRAM = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));

/** Marks the processes of one run, tools' children included. */
const MARK = 'STCI_E2E_MARK';
let runs = 0;

export interface Result {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
}

export interface Run {
  readonly child: ChildProcess;
  readonly result: Promise<Result>;
  /** What came so far. */
  out(): string;
  err(): string;
  /** Processes of this run that are still there, stcirun itself left out. */
  leftovers(): number[];
}

export interface RunOptions {
  /** Standard input: text, or `open` to leave it open; default: /dev/null. */
  readonly input?: string | 'open';
  readonly env?: Readonly<Record<string, string>>;
  /** Kills the run after so long, on a machine at rest. */
  readonly limitMs?: number;
  readonly cwd?: string;
  /** Default: stcirun. */
  readonly program?: string;
  /** Options of Node for stcirun's own process. */
  readonly nodeArgs?: readonly string[];
}

export function start(args: readonly string[], options: RunOptions = {}): Run {
  runs += 1;
  const mark = `${process.pid}.${runs}`;
  const startMs = performance.now();
  const { NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;
  const [command, ...words] = commandOf(options);
  const child = spawn(command, [...words, ...args], {
    detached: true,
    env: { ...env, ...options.env, [MARK]: mark },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  if (options.input !== undefined && options.input !== 'open') child.stdin?.end(options.input);
  child.stdin?.on('error', () => undefined);
  const text = { out: '', err: '' };
  child.stdout?.setEncoding('latin1').on('data', (chunk: string) => (text.out += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), patient(options.limitMs ?? 20_000));
  const result = new Promise<Result>((resolve) => {
    child.on('close', (exitCode) => {
      clearTimeout(timer);
      resolve({ exitCode, ...text, ms: performance.now() - startMs });
    });
  });
  return { child, result, out: () => text.out, err: () => text.err, leftovers: () => marked(mark, child.pid) };
}

/** stcirun as a user starts it, by its first line, if that finds the Node of this test. */
function commandOf({ nodeArgs, program, env }: RunOptions): [string, ...string[]] {
  const path = env?.['PATH'] ?? process.env['PATH'] ?? '';
  const node = path.split(':').map((directory) => join(directory, 'node')).find((file) => existsSync(file));
  const isPlain = nodeArgs === undefined && program === undefined;
  if (isPlain && node !== undefined && realpathSync(node) === realpathSync(process.execPath)) return [PROGRAM];
  return [process.execPath, ...(nodeArgs ?? []), program ?? PROGRAM];
}

export function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  return start(args, options).result;
}

/** Command line and parent of a process; undefined once it has ended, which it may do at any time. */
export function processOf(pid: number): { readonly command: string; readonly parent: number } | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
    return { command, parent };
  } catch {
    return undefined;
  }
}

function marked(mark: string, except: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name) && Number(name) !== except)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARK}=${mark}`);
      } catch {
        return false;
      }
    });
}

/** Program and arguments that run a line of shell. */
export function sh(line: string): readonly string[] {
  return ['--', 'sh', '-c', line];
}
