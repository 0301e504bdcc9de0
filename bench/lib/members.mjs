/** Groups of processes that print what they learn, a line each, with the machine's monotonic time. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { cleanEnvironment } from './place.mjs';

const DEADLINE_MS = 120_000;

/**
 * One process. `line(pattern)` resolves to the match of the first line that matches, printed already or to come;
 * `lines(pattern, count)` to those of the first `count` lines.
 */
export function member(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: cleanEnvironment(), ...options });
  let errors = '';
  child.stderr.on('data', (text) => (errors = (errors + text).slice(-2000)));
  const printed = [];
  const waiting = new Set();
  createInterface({ input: child.stdout }).on('line', (line) => {
    printed.push(line);
    for (const check of waiting) check(line);
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const ended = new Promise((resolve) => child.on('close', resolve));
  const lines = (pattern, count) => new Promise((resolve, reject) => {
    const found = [];
    const late = () => new Error(`${args.slice(0, 2).join(' ')} printed ${found.length} of ${count} lines that match `
      + `${pattern}; its last: ${printed.at(-1)}; ${errors}`);
    const timer = setTimeout(() => settle(() => reject(late())), DEADLINE_MS);
    const settle = (end) => (clearTimeout(timer), waiting.delete(check), end());
    const check = (line) => {
      const match = pattern.exec(line);
      if (match === null || found.length === count) return;
      found.push(match);
      if (found.length === count) settle(() => resolve(found));
    };
    waiting.add(check);
    void ended.then(() => waiting.has(check) && settle(() => reject(late())));
    for (const line of printed) check(line);
  });
  const line = (pattern) => lines(pattern, 1).then(([match]) => match);
  return { child, line, lines, say: (text) => child.stdin.write(`${text}\n`), ended };
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
