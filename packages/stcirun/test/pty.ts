/** The built stcirun at a terminal, by Python's pty module: what is typed, what the screen shows. */

import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually, patient } from '@stci/testkit';

const HELPER = fileURLToPath(new URL('../test/terminal.py', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));

/** Why there are no terminals here; undefined: there are. */
export const whyNoPty = spawnSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode(0)']).status === 0
  && spawnSync('bash', ['-c', 'true']).status === 0
  ? undefined
  : 'needs python3 (3.9 or later) and bash';

/** In place of the word `stcirun`: a function of the shell would be a process between. */
const STCIRUN = `"${process.execPath}" "${PROGRAM}"`;

const STCI_PROGRAM = `"${process.execPath}" "${STCI}"`;

export const CTRL_C = '\x03';
export const CTRL_Q = '\x11';
export const CTRL_S = '\x13';
export const CTRL_Z = '\x1a';
export const CTRL_BACKSLASH = '\x1c';

export interface Screen {
  /** All that was shown so far, line ends as they came. */
  text(): string;
  type(text: string): void;
  /** Waits until the screen shows `text` (`times` times). */
  shows(text: string, times?: number): Promise<void>;
  readonly exitCode: Promise<number | null>;
}

export interface TerminalOptions {
  readonly limitMs?: number;
  /** 0: the terminal does not say. */
  readonly rows?: number;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a line of bash at a terminal of its own; the words `stcirun` and `stci` in it are the built ones. */
export function atTerminal(line: string, options: TerminalOptions = {}): Screen {
  const { limitMs = 30_000, rows = 0, columns = 0 } = options;
  const { NODE_EXTRA_CA_CERTS: _slow, ...env } = { ...process.env, ...options.env };
  const script = line.replaceAll(/\bstcirun(?= )/gu, STCIRUN).replaceAll(/\bstci(?= )/gu, STCI_PROGRAM);
  const args = [HELPER, String(rows), String(columns), 'bash', '-c', script];
  const child = spawn('python3', args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  let isOver = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  child.stdin.on('error', () => undefined);
  const timer = setTimeout(() => child.kill('SIGKILL'), patient(limitMs));
  const exitCode = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      isOver = true;
      resolve(code);
    });
  });
  return {
    text: () => text,
    type: (typed) => child.stdin.write(typed),
    shows: async (wanted, times = 1) => {
      try {
        const shown = (): boolean => text.split(wanted).length > times;
        await eventually(() => shown() || isOver, { deadlineMs: 15_000, what: wanted });
        if (!shown()) throw new Error('over');
      } catch {
        throw new Error(`${JSON.stringify(wanted)} is not on the screen, but ${JSON.stringify(text.slice(-500))}`);
      }
    },
    exitCode,
  };
}
