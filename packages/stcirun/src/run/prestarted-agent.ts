/**
 * The agent that bin/stcirun.cjs has started before anything else was loaded, so that its start overlaps with that of
 * stcirun. It waits for its boot record like any other. If no launch takes it, it is ended soon.
 */

import type { ChildProcess } from 'node:child_process';
import type { PrestartedAgent } from '@stci/platform-node';

/** A launch that uses an agent on this machine takes it much sooner. */
const UNUSED_MS = 2000;

const KEY = Symbol.for('stci.prestartedAgent');

export function prestartedAgent(): PrestartedAgent | undefined {
  let child = (globalThis as { [KEY]?: ChildProcess })[KEY];
  if (child === undefined) return undefined;
  const drop = (): void => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  const timer = setTimeout(drop, UNUSED_MS);
  timer.unref();
  process.on('exit', drop);
  return {
    take: () => {
      const taken = child;
      child = undefined;
      clearTimeout(timer);
      return taken?.exitCode === null && taken.signalCode === null && taken.pid !== undefined ? taken : undefined;
    },
  };
}
