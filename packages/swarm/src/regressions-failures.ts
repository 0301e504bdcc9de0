/** Runs with failures that went wrong once, and what each found. */

import type { FailurePlan } from './failure-plan.js';
import { PLAIN } from './plain.js';

export interface FailureRegression {
  readonly found: string;
  readonly plan: FailurePlan;
}

export function plainFailures(plan: Pick<FailurePlan, 'hosts' | 'faults'> & Partial<FailurePlan>): FailurePlan {
  const { settings, ...more } = plan;
  return {
    seed: 1, link: PLAIN.link, edges: [], routes: true, ...more,
    settings: { detector: 'witness', 'launcher.tree.arity': '2', 'bootcom.lease': '2000ms', ...settings },
  };
}

const CHAIN = { 'launcher.tree.arity': '1', 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '0ms' };
const MESH = { detector: 'mesh,witness', 'detector.mesh.period': '200ms', 'detector.mesh.grace': '0' };

export const FAILURE_REGRESSIONS: readonly FailureRegression[] = [
  {
    found: 'two agents that connect to each other at the same time, and at the same time again, refused each other for '
      + 'ever: who connects has its link up before the other end decides which of both stays',
    plan: plainFailures({
      hosts: 5, faults: [],
      settings: { 'overlay.topology': 'bmg', 'overlay.open': 'lazy', 'bootcom.ws.interface': 'eth0' },
    }),
  },
  {
    found: 'agents below one that stood still were reported and refuted; their own reports, of agents above, reached '
      + 'only each other: nobody decided about them, and both sides reported each other again and again',
    plan: plainFailures({
      hosts: 8, faults: [{ kind: 'freeze', host: 5, atMs: 379, lastsMs: 3360 }],
      settings: { ...MESH, ...CHAIN, 'detector.mesh.timeout': '2000ms', 'detector.mesh.notifier': 'bmg' },
    }),
  },
  {
    found: 'those below one that stood still kept their link to it and refused all others, and were given up with it; '
      + 'an agent that was started again had no route to those that are planned below it',
    plan: plainFailures({
      seed: 41, hosts: 15, faults: [{ kind: 'freeze', host: 2, atMs: 2081, lastsMs: 3960 }],
      settings: {
        ...MESH, ...CHAIN, 'detector.mesh.timeout': '600ms', 'overlay.topology': 'bmg', 'overlay.open': 'eager',
        'errmgr.loss.pause': '1000ms', 'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'agents that were above one, before it was linked to an agent farther up, refused what came from it, and '
      + 'sent what was for it down',
    plan: plainFailures({
      seed: 1044, hosts: 8, faults: [{ kind: 'part', hosts: [3, 4], atMs: 1248, lastsMs: 2546 }],
      settings: { 'launcher.tree.arity': '1' },
    }),
  },
];
