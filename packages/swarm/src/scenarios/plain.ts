/** Base plans of regressions and of tests of the checkers, to which each adds its own. */

import type { FailurePlan } from './failure-plan.js';
import type { SwarmOptions } from './options.js';
import type { AppPlan } from './programs.js';
import type { FrontEndPlan, SessionOptions } from './session-plan.js';

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
  controls: [],
  link: { latencyMs: 0.1, jitterMs: 0, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
  spawnMs: [0.4, 1.2],
  pipeBytes: 65_536,
  clockSkewMs: 0,
};

const SUBMIT: FrontEndPlan = { kind: 'submit', job: 0, atMs: 0, all: false, releaseMs: 0, leave: undefined };

/** One job on some hosts, undisturbed: a front-end submits it, one looks at it, one waits for its end. */
export function plainSession(app: AppPlan, over: Partial<SessionOptions> = {}): SessionOptions {
  return {
    seed: 1,
    hosts: 4,
    settings: { launcherproc: 'remote', 'launcher.tree.arity': '2', 'bootcom.lease': '2s' },
    jobs: [{ app, stdinBytes: 0 }],
    frontEnds: [SUBMIT, { ...SUBMIT, kind: 'attach', atMs: 2000 }, { ...SUBMIT, kind: 'wait', atMs: 10 }],
    faults: [],
    spoolBytes: 256 * 1024,
    diskBytes: Infinity,
    ...over,
  };
}

/** A session on some hosts. */
export function plainFailures(plan: Pick<FailurePlan, 'hosts' | 'faults'> & Partial<FailurePlan>): FailurePlan {
  const { settings, link = PLAIN.link, ...more } = plan;
  return {
    seed: 1, isPatient: true, ...more,
    settings: { detector: 'witness', 'launcher.tree.arity': '2', 'bootcom.lease': '2000ms', ...settings }, link,
  };
}
