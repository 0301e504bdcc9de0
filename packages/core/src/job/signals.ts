/** Numbers of the signals, as on Linux for x86 and ARM: what `128 + signal` in an exit code means. */

import type { SignalName } from '@stci/interface';

const NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGIOT: 6, SIGBUS: 7, SIGFPE: 8, SIGKILL: 9,
  SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGSTKFLT: 16, SIGCHLD: 17,
  SIGCONT: 18, SIGSTOP: 19, SIGTSTP: 20, SIGTTIN: 21, SIGTTOU: 22, SIGURG: 23, SIGXCPU: 24, SIGXFSZ: 25,
  SIGVTALRM: 26, SIGPROF: 27, SIGWINCH: 28, SIGIO: 29, SIGPOLL: 29, SIGPWR: 30, SIGSYS: 31,
};

/** Largest signal number, the last real-time signal. */
const SIGNAL_MAX = 64;

/** The number of `SIGTERM`; a real-time signal is written `SIG34`. undefined for a name that is no signal's. */
export function signalNumber(name: string): number | undefined {
  const known = NUMBERS[name];
  if (known !== undefined) return known;
  const number = /^SIG(\d{1,2})$/.exec(name)?.[1];
  return number !== undefined && Number(number) >= 1 && Number(number) <= SIGNAL_MAX ? Number(number) : undefined;
}

/** The signal that `KILL`, `sigkill` or `9` stands for; undefined for a word that names none, or a real-time signal. */
export function signalNamed(word: string): SignalName | undefined {
  const text = word.trim().toUpperCase().replace(/^SIG/u, '');
  const found = Object.entries(NUMBERS).find(([name, number]) => name === `SIG${text}` || String(number) === text);
  return found?.[0] as SignalName | undefined;
}

/** Exit code of a process that a signal ended: 128 + its number; 128 for a signal whose number is not known. */
export function signalExitCode(name: string): number {
  return 128 + (signalNumber(name) ?? 0);
}
