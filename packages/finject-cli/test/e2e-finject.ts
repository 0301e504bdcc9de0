/** Starts the built finject as a user would, in a directory of its own; in the end nothing of it is left. */

import { spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readHistory, type History, type HistoryRecord } from '@stci/finject/experiment';
import { assert, eventually, killThose, patient } from '@stci/testkit';

const FINJECT = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));
const STCI = fileURLToPath(new URL('../../stcirun/bin/stci.cjs', import.meta.url));
const STCIRUN = fileURLToPath(new URL('../../stcirun/bin/stcirun.cjs', import.meta.url));
const PROGRAMS = { finject: FINJECT, stci: STCI, stcirun: STCIRUN };
const LIMIT_MS = 120_000;

/** Throws for a process that has ended. */
function commandOf(pid: string): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
}

/** Marks the processes of a test, tools' children included. */
const MARK = 'STCI_E2E_FINJECT';

export interface Said {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly result: Promise<Said>;
  out(): string;
  err(): string;
}

export class Lab {
  readonly directory = mkdtempSync(join(tmpdir(), 'finject-'));
  readonly #mark = `${process.pid}.${this.directory}`;

  path(...parts: readonly string[]): string {
    return join(this.directory, ...parts);
  }

  file(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return name;
  }

  start(program: keyof typeof PROGRAMS, ...args: readonly string[]): Started {
    return this.#start([process.execPath, PROGRAMS[program], ...args]);
  }

  /** At a terminal of its own, whose screen is its standard output; needs Python. */
  startAtTerminal(program: keyof typeof PROGRAMS, ...args: readonly string[]): Started {
    const helper = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
    return this.#start(['python3', '-c', helper, process.execPath, PROGRAMS[program], ...args]);
  }

  #start([program = '', ...args]: readonly string[]): Started {
    const { NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;
    const own = { [MARK]: this.#mark, STCI_MCA_session_directory: this.path('sessions') };
    const child = spawn(program, args, {
      cwd: this.directory, env: { ...env, ...own }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
    });
    const text = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk));
    const timer = setTimeout(() => child.kill('SIGKILL'), patient(LIMIT_MS));
    const result = new Promise<Said>((resolve) => {
      child.on('close', (exitCode) => {
        clearTimeout(timer);
        resolve({ exitCode, ...text });
      });
    });
    return { child, result, out: () => text.out, err: () => text.err };
  }

  run(program: keyof typeof PROGRAMS, ...args: readonly string[]): Promise<Said> {
    return this.start(program, ...args).result;
  }

  history(run: string): History {
    return readHistory(run, readFileSync(this.path(run, 'history.jsonl'), 'utf8'));
  }

  /** The plans of a run. */
  plans(run: string): readonly unknown[] {
    return recordsOf(this.history(run), 'repeat').map(({ plan }) => plan);
  }

  hasHistory(run: string): boolean {
    return existsSync(this.path(run, 'history.jsonl'));
  }

  /** Processes that were started in it and are there still: their states. */
  processes(): readonly string[] {
    return this.#processes((pid, state) => `${pid} ${state}`);
  }

  /** Their command lines. */
  commands(): readonly string[] {
    return this.#processes(commandOf);
  }

  /** Those with this command line. */
  runningAs(command: string): readonly number[] {
    return this.#processes((pid) => (commandOf(pid) === command ? pid : '')).filter((pid) => pid !== '').map(Number);
  }

  /** The process of a run's last session. */
  sessionPid(run: string): number {
    return this.pidOf(recordsOf(this.history(run), 'target').at(-1)?.session ?? '');
  }

  /** Process id of the session of this name. */
  pidOf(name: string): number {
    const text = readFileSync(this.path('sessions', name, 'session.json'), 'utf8');
    return (JSON.parse(text) as { process: { pid: number } }).process.pid;
  }

  #processes(show: (pid: string, state: string) => string): readonly string[] {
    return readdirSync('/proc').filter((name) => /^\d+$/u.test(name)).flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const state = stat.slice(stat.lastIndexOf(')') + 2)[0] as string;
        const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
        return state !== 'Z' && variables.includes(`${MARK}=${this.#mark}`) ? [show(pid, state)] : [];
      } catch {
        return [];
      }
    });
  }

  /** Nothing is left, and nothing is stopped, within the time that a session may take to see it. */
  async checkGone(): Promise<void> {
    await eventually(() => this.processes().length === 0, { deadlineMs: 60_000, what: 'the end of all processes' });
  }

  async close(): Promise<void> {
    try {
      await this.checkGone();
    } finally {
      killThose(this.processes().map((line) => Number(line.split(' ')[0])));
      rmSync(this.directory, { recursive: true });
    }
  }
}

export function withLab(body: (lab: Lab) => Promise<void>): () => Promise<void> {
  return async () => {
    const lab = new Lab();
    try {
      await body(lab);
    } finally {
      await lab.close();
    }
  };
}

export function recordsOf<Type extends HistoryRecord['type']>(
  { records }: History, type: Type,
): Extract<HistoryRecord, { type: Type }>[] {
  return records.filter((record): record is never => record.type === type);
}

/** The state of one injection after the other. */
export function states(history: History): readonly string[] {
  return recordsOf(history, 'injection').map(({ id, state }) => `${id} ${state}`);
}

export function said({ exitCode, err }: Said, expected: number): void {
  assert.is(exitCode, expected, err);
}

/** Submits the first job of a session, which sleeps on so many ranks; all of them run then. */
export async function submitSleep(
  lab: Lab, session: string, ranks: number, options: readonly string[] = [],
): Promise<void> {
  const job = ['stcirun', '--session', session, '--detach', '-n', String(ranks), ...options, 'sleep', '60'] as const;
  said(await lab.run(...job), 0);
  const running = async (): Promise<number> =>
    (await lab.run('stci', 'ps', `${session}.1`)).out.match(/ running$/gmu)?.length ?? 0;
  await eventually(async () => (await running()) === ranks, { deadlineMs: 30_000, what: 'all ranks running' });
}

export const LONG = { timeoutMs: 240_000 };

/** A kind of fault from outside: host, says its argument `word`. */
const PLUGIN = `import { accept, defineComponent, faultFramework } from '@stci/core/component';
const module = {
  victims: ['host'],
  undoes: false,
  args: { word: { type: 'string', default: '', help: 'x' } },
  problemOf: () => undefined,
  plan: ({ victim: { host } }) => [{ at: { role: 'root', host }, body: {} }],
  open: ({ order }) => ({
    dueMs: undefined,
    on: ({ type }) => (type === 'inject' ? [{ type: 'injected', text: order.args.word }] : []),
  }),
};
export default defineComponent({
  framework: faultFramework, name: 'own', version: '1.0.0', frameworkVersion: 1, help: 'x', params: {},
  args: module.args, query: () => accept(50), create: () => module,
});
`;

/** A package with it, as its author has it. */
export function writePlugin(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const own = {
    framework: 'fault', name: 'own', module: './index.js', help: 'x',
    args: { word: { type: 'string', default: '', help: 'x' } },
  };
  const json = { name: 'fault-own', type: 'module', stci: { api: '^1', components: [own] } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(json));
  writeFileSync(join(directory, 'index.js'), PLUGIN);
}
