/**
 * What a process does to itself for an injected fault: it is killed, or stopped for a time. A stopped process cannot
 * continue itself: two others do. If either is killed, the other continues the process at once; if the first is
 * stopped, the second does when the time is over. Both end when the process does, which the first notices by a pipe.
 */

import type { Socket } from 'node:net';
import type { ErrorRecord } from '@stci/interface';
import { builtin } from '../system/builtin.js';

/** Time from the start of the other process until it is ready; a busy host may take seconds. */
const READY_MS = 15_000;
/** How often it looks whether the process is still its parent's child. */
const LOOK_MS = 100;

/** How much later the second continues the process, if the first does not. */
const LATE_MS = 1000;

/**
 * Arguments: a name by which `stci doctor` knows it, process id, time. Its standard input is a pipe from the first:
 * `go` begins the time, `over` ends it, and so does the end of file, which means that the first was killed; then it
 * continues the process.
 */
const SECOND = `
const [, pid, forMs] = process.argv.slice(1).map(Number);
const go = () => {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {}
  process.exit();
};
for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGTSTP']) process.on(name, () => {});
process.stdin.on('error', go);
process.stdin.on('close', go);
process.stdin.on('data', (words) => {
  if (words.includes('over')) process.exit();
  setTimeout(go, forMs + ${LATE_MS});
});
process.stdout.write('ready');
`;

/**
 * Arguments: process id, time. It stops the process when a line comes. Whose parent has ended would not notice while it
 * is stopped that it is to end, too: it is continued.
 */
const CONTINUER = `
const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const [pid, forMs] = process.argv.slice(1).map(Number);
const parent = () => {
  try {
    return readFileSync('/proc/' + pid + '/stat', 'latin1').split(') ').pop().split(' ')[1];
  } catch {
    return undefined;
  }
};
const first = parent();
const args = ['-e', ${JSON.stringify(SECOND)}, 'stci-continuer', String(pid), String(forMs)];
const second = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
let isOver = false;
const over = () => {
  isOver = true;
  second.stdin.end('over\\n');
};
const go = () => {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {}
  over();
};
for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGTSTP']) process.on(name, () => {});
second.stdin.on('error', () => {});
second.on('error', () => process.exit(1));
second.on('exit', () => {
  if (!isOver) go();
  process.exit();
});
process.stdin.on('error', over);
process.stdin.on('close', over);
process.stdin.on('data', () => {
  if (isOver) return;
  second.stdin.write('go\\n');
  process.kill(pid, 'SIGSTOP');
  setTimeout(go, forMs);
  setInterval(() => parent() !== first && go(), ${LOOK_MS});
});
second.stdout.once('data', () => process.stdout.write('ready'));
`;

export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

export function stopSelf(
  forMs: number, ready: (error: ErrorRecord | undefined, go: (isWanted: boolean) => void) => void,
): void {
  let isAnswered = false;
  const args = ['-e', CONTINUER, String(process.pid), String(Math.ceil(forMs))];
  const child = builtin('node:child_process').spawn(process.execPath, args, {
    cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'ignore'],
    // Without the marks by which tools are found and ended.
    env: { PATH: '/usr/bin:/bin' },
  });
  const go = (isWanted: boolean): void => void (isWanted ? child.stdin.write('go\n') : child.stdin.end());
  const answer = (problem: string | undefined): void => {
    if (isAnswered) return;
    isAnswered = true;
    clearTimeout(timer);
    if (problem === undefined) return ready(undefined, go);
    child.kill('SIGKILL');
    const message = `This process cannot be stopped, since nothing would continue it: ${problem}.`;
    ready({ code: 'STCI_PROGRAM_SPAWN', message }, () => undefined);
  };
  const timer = setTimeout(() => answer(`the process for that was not ready within ${READY_MS / 1000} s`), READY_MS);
  timer.unref();
  child.on('error', ({ message }) => answer(message));
  child.on('exit', () => answer('the process for that has ended'));
  child.stdin.on('error', () => undefined);
  child.stdout.once('data', () => {
    child.stdout.destroy();
    answer(undefined);
  });
  child.unref();
  (child.stdin as Socket).unref();
}
