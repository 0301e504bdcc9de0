/** Base options of regressions and of tests of the checkers: an empty job, to which each adds its own. */

import type { SwarmOptions } from './options.js';

export interface Regression {
  readonly found: string;
  readonly options: SwarmOptions;
}

/** An empty job on one host, undisturbed. */
export const PLAIN: SwarmOptions = {
  seed: 1,
  hosts: 1,
  remote: false,
  slots: 1,
  apps: [],
  byNode: false,
  settings: {},
  stdin: { to: 'none' },
  stdinBytes: 0,
  releaseMs: 0,
  timeoutMs: undefined,
  launchTimeoutMs: 60_000,
  faults: [],
  badHosts: [],
  controls: [],
  link: { latencyMs: 0.1, jitterMs: 0, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
  spawnMs: [0.4, 1.2],
  pipeBytes: 65_536,
  clockSkewMs: 0,
};
