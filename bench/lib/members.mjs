/** Groups of processes that print what they learn, a line each, with the machine's monotonic time. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { cleanEnvironment } from './place.mjs';

const DEADLINE_MS = 120_000;

/** One process; `line(pattern)` resolves to the match of the first line that matches, printed already or to come. */
export function member(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env: cleanEnvironment(), ...options });
  const lines = [];
  const waiting = new Set();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const check of waiting) check(line);
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const line = (pattern) => new Promise((resolve, reject) => {
    const told = lines.map((each) => pattern.exec(each)).find((match) => match !== null);
    if (told !== undefined) return resolve(told);
    const last = () => `${args.slice(0, 2).join(' ')} did not print ${pattern}; its last line: ${lines.at(-1)}`;
    const timer = setTimeout(() => settle(() => reject(new Error(last()))), DEADLINE_MS);
    const settle = (end) => (clearTimeout(timer), waiting.delete(check), end());
    const check = (each) => {
      const match = pattern.exec(each);
      if (match !== null) settle(() => resolve(match));
    };
    waiting.add(check);
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  return { child, line, say: (text) => child.stdin.write(`${text}\n`), ended };
}

/** Ends all: their standard input, then the processes. */
export async function endAll(members) {
  for (const { child } of members) child.stdin.end();
  const timer = setTimeout(() => members.forEach(({ child }) => child.kill('SIGKILL')), 5000);
  await Promise.all(members.map(({ ended }) => ended));
  clearTimeout(timer);
}

/** The monotonic time that all processes of a machine share, ms. */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
