/**
 * The agent that bin/stcirun.cjs has started before anything else was loaded, so that its start and ours overlap. It
 * waits for its boot record like any other. One that is not taken over is ended soon, and by
 * bin/stcirun.cjs at its exit.
 */

import type { ChildProcess } from 'node:child_process';
import type { PrestartedAgent } from '@stci/platform-node';

/** A launch that uses an agent on this machine takes it much sooner. */
const UNUSED_MS = 2000;

const KEY = Symbol.for('stci.prestartedAgent');

export function prestartedAgent(): PrestartedAgent | undefined {
  const place = globalThis as { [KEY]?: ChildProcess | undefined };
  if (place[KEY] === undefined) return undefined;
  const timer = setTimeout(() => {
    place[KEY]?.kill('SIGKILL');
    place[KEY] = undefined;
  }, UNUSED_MS);
  timer.unref();
  return {
    take: () => {
      const taken = place[KEY];
      place[KEY] = undefined;
      clearTimeout(timer);
      return taken?.exitCode === null && taken.signalCode === null && taken.pid !== undefined ? taken : undefined;
    },
  };
}
