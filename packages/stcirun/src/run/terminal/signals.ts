/**
 * What a signal to stcirun does (docs/signals.md). INT, TERM and HUP end the job: TERM to all ranks first, KILL at
 * the second time, and at the third stcirun exits at once. The signals of the forward list go to all ranks
 * unchanged; TSTP stops the ranks (by STOP: TSTP has no effect in sessions of their own) and then stcirun itself, which
 * announces it to its agents first, since a stopped process cannot renew its lease.
 */

import { didYouMean, signalNamed } from '@stci/core';
import type { SignalActions } from '@stci/core/run';
import { StciError, type SignalName } from '@stci/interface';

export const FORWARDED: readonly SignalName[] = ['SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGTSTP', 'SIGCONT'];
const ENDING: readonly SignalName[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Signals that a process may ask for and Node can watch. */
const KNOWN: readonly SignalName[] = [
  ...ENDING,
  ...FORWARDED,
  'SIGALRM', 'SIGVTALRM', 'SIGPROF', 'SIGWINCH', 'SIGURG', 'SIGIO', 'SIGXCPU', 'SIGXFSZ', 'SIGTTIN', 'SIGTTOU',
  'SIGPWR',
];

/** Time for the announcement to be sent before stcirun stops too. */
export const STOP_DELAY_MS = 50;

/** Reads `USR1,SIGUSR2` or `none`. */
export function parseForwardList(text: string | undefined): readonly SignalName[] {
  if (text === undefined) return FORWARDED;
  if (text === 'none') return [];
  return text.split(',').map((word) => {
    const name = signalNamed(word);
    if (name !== undefined && KNOWN.includes(name)) return name;
    const what = name === undefined ? `unknown signal '${word}'` : `signal '${word}' cannot be forwarded`;
    const hint = didYouMean(`SIG${word.trim().toUpperCase().replace(/^SIG/u, '')}`, KNOWN);
    const text = `--forward-signals: ${what}.${hint} Write names such as USR1,USR2, or none.`;
    throw new StciError('STCI_USAGE', text);
  });
}

export interface WatchOptions {
  readonly ignoresHangup?: boolean;
  /** Signals that leave the job to its session. */
  readonly detaching?: readonly SignalName[];
}

/** Watches the signals until the returned function is called. */
export function watchSignals(
  forwarded: readonly SignalName[],
  actions: SignalActions,
  { ignoresHangup = false, detaching = [] }: WatchOptions = {},
): () => void {
  let times = 0;
  let stopTimer: NodeJS.Timeout | undefined;
  let stopping: NodeJS.Immediate | undefined;
  const stop = (): void => void process.kill(process.pid, 'SIGSTOP');
  const stay = (): void => {
    clearTimeout(stopTimer);
    clearImmediate(stopping);
  };
  const handlers = new Map<SignalName, () => void>();
  for (const signal of ENDING) {
    handlers.set(signal, () => {
      times += 1;
      actions.end(signal, times);
    });
  }
  for (const signal of forwarded) {
    handlers.set(signal, () => actions.forward(signal));
  }
  handlers.set('SIGTSTP', () => {
    if (forwarded.includes('SIGTSTP')) actions.forward('SIGSTOP');
    actions.pause(true);
    stay();
    // Signals that have come are dispatched between the two. On a busy machine the timer may be later than a CONT,
    // after which nothing would continue this process.
    stopTimer = setTimeout(() => { stopping = setImmediate(stop); }, STOP_DELAY_MS);
  });
  handlers.set('SIGCONT', () => {
    stay();
    actions.pause(false);
    if (forwarded.includes('SIGCONT')) actions.forward('SIGCONT');
  });
  for (const signal of detaching) handlers.set(signal, () => actions.detach());
  if (ignoresHangup) handlers.set('SIGHUP', () => undefined);
  for (const [signal, handler] of handlers) process.on(signal as NodeJS.Signals, handler);
  return () => {
    stay();
    for (const [signal, handler] of handlers) process.off(signal as NodeJS.Signals, handler);
  };
}
