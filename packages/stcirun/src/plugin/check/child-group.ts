/** A process that runs a plugin's code, with all that it has started: its group, which ends with this process. */

import type { ChildProcess } from 'node:child_process';

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Time after its end for those that have left its group and hold its pipes. */
const HELD_MS = 1000;

/** Ends the child's group with this process. The returned function ends it now: the child has ended. */
export function endGroup(child: ChildProcess): () => void {
  const kill = (): void => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // There is none.
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    kill();
    for (const each of ENDING) process.off(each, onSignal);
    process.kill(process.pid, signal);
  };
  for (const signal of ENDING) process.on(signal, onSignal);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    kill();
    for (const signal of ENDING) process.off(signal, onSignal);
    setTimeout(() => child.stdio.forEach((stream) => stream?.destroy()), HELD_MS).unref();
  };
}
