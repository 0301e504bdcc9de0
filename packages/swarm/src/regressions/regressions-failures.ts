/** Runs with failures that went wrong once, and what each found. */

import type { FailurePlan } from '../scenarios/failure-plan.js';
import { PLAIN } from '../scenarios/plain.js';

export interface FailureRegression {
  readonly found: string;
  readonly plan: FailurePlan;
  /** No agent is started more often. */
  readonly incarnationMax?: number;
  /** None is linked again more often. */
  readonly linksMax?: number;
}

export function plainFailures(plan: Pick<FailurePlan, 'hosts' | 'faults'> & Partial<FailurePlan>): FailurePlan {
  const { settings, ...more } = plan;
  return {
    seed: 1, link: PLAIN.link, edges: [], isPatient: true, ...more,
    settings: { detector: 'witness', 'launcher.tree.arity': '2', 'bootcom.lease': '2000ms', ...settings },
  };
}

const AGAIN = { 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '0ms' };
const CHAIN = { 'launcher.tree.arity': '1', ...AGAIN };
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
      seed: 1044, hosts: 8, faults: [{ kind: 'part', hosts: [3, 4], atMs: 1000, lastsMs: 2546 }],
      settings: { 'launcher.tree.arity': '1' },
    }),
  },
  {
    found: 'a frame for an agent that is reached otherwise by now went back up where it had come from, and the agent '
      + 'above took that for a forged one: it closed the link, and gave the agent up',
    plan: plainFailures({
      seed: 498, hosts: 4, faults: [{ kind: 'kill', host: 1, atMs: 369 }, { kind: 'kill', host: 2, atMs: 369 }],
      settings: { ...CHAIN, detector: 'ring,witness', 'detector.ring.period': '100ms', 'detector.ring.grace': '0' },
    }),
    incarnationMax: 2,
  },
  {
    found: 'an agent that was started again while its former incarnation was asked for an answer was given up for the '
      + 'answer that did not come',
    plan: plainFailures({
      seed: 797, hosts: 8,
      faults: [
        { kind: 'freeze', host: 1, atMs: 2094.379707472399, lastsMs: 700 },
        { kind: 'freeze', host: 4, atMs: 2094.379707472399, lastsMs: 700 },
      ],
      settings: {
        ...AGAIN, 'launcher.tree.arity': '3', detector: 'ring,swim,witness', 'bootcom.lease': '1000ms',
        'detector.link.notifier': 'lazy', 'detector.ring.notifier': 'hypercube', 'detector.ring.period': '50ms',
        'detector.ring.timeout': '500ms', 'detector.ring.grace': '0', 'detector.swim.notifier': 'tree',
        'detector.swim.period': '50ms', 'detector.swim.grace': '0', 'detector.ring.reconnect': '1',
        'detector.ring.order': 'cabinets:0*2,1*3,2*4,0*9', 'errmgr.loss.retries': '4',
      },
      link: { latencyMs: 3, jitterMs: 0, cutChance: 0, bytesPerMs: 20_000, timeoutMs: 60_000 },
    }),
    incarnationMax: 2,
  },
  {
    found: 'what had gone a part of its way by the overlay was refused by its destination where the last link was one '
      + 'of the tree, between two that are no neighbours in the overlay',
    plan: plainFailures({
      seed: 1239, hosts: 9, faults: [{ kind: 'kill', host: 3, atMs: 348 }, { kind: 'kill', host: 0, atMs: 348 }],
      settings: {
        ...MESH, 'detector.mesh.timeout': '1000ms', 'launcher.tree.arity': '1', 'overlay.topology': 'mesh:wrap=true',
        'overlay.open': 'lazy', 'overlay.queue': '1', 'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'what was for a neighbour in the overlay that could not be connected to waited for each attempt to end, '
      + 'while the tree led to it',
    plan: plainFailures({
      seed: 1304, hosts: 4,
      // In the end hosts 1 and 2 are still cut off from host 3.
      faults: [{ kind: 'part', hosts: [3], atMs: 760 }, { kind: 'part', hosts: [1, 2, 3], atMs: 1839, lastsMs: 3003 }],
      settings: {
        ...AGAIN, detector: 'ring,witness', 'detector.ring.period': '200ms', 'detector.ring.timeout': '2000ms',
        'overlay.topology': 'bmg', 'overlay.open': 'eager',
        'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'an agent that was cut off from all above it ended those below it with itself, though others reached them',
    plan: plainFailures({
      hosts: 5,
      faults: [
        { kind: 'cut', between: [1, 0], atMs: 500, lastsMs: 20_000 },
        { kind: 'cut', between: [1, 'login'], atMs: 500, lastsMs: 20_000 },
      ],
      settings: { 'launcher.tree.arity': '1' },
    }),
  },
  {
    found: 'an agent below one that stood still refused all others until it noticed itself that its parent was dead, '
      + 'and was given up for the silence',
    plan: plainFailures({
      seed: 31_003, hosts: 5, faults: [{ kind: 'freeze', host: 1, atMs: 899, lastsMs: 11_300 }],
      settings: {
        detector: 'ring,mesh,witness', 'bootcom.lease': '4000ms', 'errmgr.loss': 'start-again',
        'errmgr.loss.pause': '1000ms', 'detector.ring.period': '100ms', 'detector.ring.timeout': '1000ms',
        'detector.mesh.period': '100ms', 'detector.mesh.timeout': '1000ms',
      },
      link: { latencyMs: 1, jitterMs: 0.05, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
    }),
  },
  {
    found: 'an agent below one that stood still for a while was given up: the one above it answered the controller '
      + 'just in time, and it had no time left',
    plan: plainFailures({
      hosts: 2, faults: [{ kind: 'freeze', host: 0, atMs: 352.9411554802209, lastsMs: 646.8200894538313 }],
      settings: {
        detector: 'ring,witness', 'launcher.tree.arity': '1', 'detector.ring.period': '200ms',
        'detector.ring.timeout': '600ms', 'detector.ring.grace': '0', 'detector.ring.reconnect': '1',
        'detector.ring.notifier': 'tree',
      },
    }),
  },
  {
    found: 'two hosts crashed, one below the other in the boot tree: the report of the one below was refuted, though '
      + 'it did not answer, and its observer on the ring reported it again and again until its lease ended',
    plan: {
      ...plainFailures({
        seed: 31, hosts: 13, faults: [{ kind: 'crash', host: 2, atMs: 1355 }, { kind: 'crash', host: 3, atMs: 1355 }],
        settings: {
          detector: 'ring,witness', 'detector.ring.timeout': '600ms', 'detector.ring.grace': '0',
          'detector.ring.period': '100ms', 'detector.ring.notifier': 'bmg', 'overlay.topology': 'bmg',
          'overlay.open': 'eager', 'launcher.tree.arity': '1', 'bootcom.lease': '10000ms',
          'bootcom.ws.interface': 'eth0',
        },
        link: { latencyMs: 0.05, jitterMs: 0, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
      }),
      isTimed: true, isPatient: false,
    },
  },
  {
    found: 'hosts that answered the controller by agents that were just being linked to others were given up',
    plan: plainFailures({
      seed: 300_027, hosts: 11, faults: [{ kind: 'crash', host: 4, atMs: 387 }],
      settings: {
        detector: 'swim,witness', 'launcher.tree.arity': '1', 'bootcom.lease': '4000ms',
        'detector.link.notifier': 'lazy', 'detector.swim.notifier': 'auto', 'detector.swim.period': '100ms',
        'detector.swim.grace': '0',
      },
    }),
  },
  {
    found: 'agents whose parent was reported wrongly gave up their only link; a record was told before the controller '
      + 'had decided',
    plan: plainFailures({
      seed: 300_005, hosts: 15, faults: [{ kind: 'crash', host: 12, atMs: 599, backMs: 374 }],
      settings: {
        ...AGAIN, detector: 'mesh,witness', 'launcher.tree.arity': '1', 'bootcom.lease': '2000ms',
        'detector.link.notifier': 'hypercube', 'detector.mesh.notifier': 'bmg', 'detector.mesh.period': '50ms',
        'detector.mesh.timeout': '150ms', 'detector.mesh.grace': '0',
      },
      link: { latencyMs: 3, jitterMs: 0.05, cutChance: 0, bytesPerMs: 20_000, timeoutMs: 60_000 },
    }),
  },
  {
    found: 'the record of a report that came while its host was being asked already, since another held it for dead, '
      + 'was told before the controller had decided',
    plan: plainFailures({
      seed: 7_000_040, hosts: 2, faults: [{ kind: 'part', hosts: [1, 0], atMs: 391.60510837100446, lastsMs: 197 }],
      settings: {
        detector: 'ring,swim,witness', 'bootcom.lease': '4000ms', 'detector.ring.notifier': 'bmg',
        'detector.ring.period': '50ms', 'detector.ring.timeout': '150ms', 'detector.ring.grace': '0',
        'detector.swim.notifier': 'hypercube', 'detector.swim.period': '50ms', 'detector.swim.grace': '0',
        'detector.ring.reconnect': '2',
      },
      link: { latencyMs: 0.2, jitterMs: 0.05, cutChance: 0.3, bytesPerMs: Infinity, timeoutMs: 5000 },
    }),
  },
  {
    found: 'an agent that was started again kept no broadcasts before it had a child: the agents below, linked to it '
      + 'then, missed what their jobs had been told meanwhile, and an agreement never ended',
    plan: plainFailures({
      seed: 7_000_422, hosts: 6,
      faults: [
        { kind: 'freeze', host: 4, atMs: 944, lastsMs: 1427 },
        { kind: 'freeze', host: 5, atMs: 359, lastsMs: 2102 },
        { kind: 'freeze', host: 0, atMs: 971, lastsMs: 2580 },
      ],
      settings: {
        ...AGAIN, detector: 'sporadic,witness', 'launcher.tree.arity': '3', 'bootcom.lease': '1000ms',
        'detector.sporadic.notifier': 'bmg', 'detector.sporadic.period': '200ms', 'detector.sporadic.timeout': '600ms',
        'overlay.topology': 'bmg', 'overlay.open': 'lazy', 'bootcom.ws.interface': 'eth0',
        'errmgr.loss.pause': '300ms', 'client.enable': 'true', 'detector.latency': '20ms',
      },
      agree: { rounds: 16, pauseMs: 62.5, policy: 'continue' },
      link: { latencyMs: 0.05, jitterMs: 0.05, cutChance: 0, bytesPerMs: 20_000, timeoutMs: 60_000 },
      isPatient: false,
    }),
  },
  {
    found: 'below two hosts that were cut off, one below the other, the next were reached only after the attempts for '
      + 'both, too late, although there was an overlay',
    plan: plainFailures({
      seed: 7_100_007, hosts: 4,
      faults: [{ kind: 'part', hosts: [0, 1], atMs: 607 }, { kind: 'part', hosts: [1], atMs: 976 }],
      settings: {
        ...CHAIN, detector: 'ring,swim,witness', 'bootcom.lease': '1000ms', 'errmgr.loss.pause': '20ms',
        'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms', 'detector.ring.grace': '0',
        'detector.swim.period': '100ms', 'detector.swim.grace': '300ms', 'detector.latency': '20ms',
        'overlay.topology': 'mesh', 'overlay.open': 'eager', 'overlay.queue': '1', 'bootcom.ws.interface': 'eth0',
        'detector.link.notifier': 'bmg',
      },
      link: { latencyMs: 0.05, jitterMs: 0, cutChance: 0, bytesPerMs: 20_000, timeoutMs: 5000 },
      isPatient: false,
    }),
  },
  {
    found: 'what was sent again when an agent had been linked to another went the old way, before those above knew the '
      + 'new one, and waited there for the next repetition: the agent seemed silent',
    plan: plainFailures({
      seed: 7_402_275, hosts: 5,
      faults: [
        { kind: 'part', hosts: [1, 2, 3], atMs: 326.48294309619814, lastsMs: 13.679148325774197 },
        { kind: 'part', hosts: [2], atMs: 326.48294309619814, lastsMs: 739.8227045778185 },
        { kind: 'part', hosts: [3], atMs: 326.48294309619814, lastsMs: 37.72347381656679 },
      ],
      settings: {
        detector: 'ring,witness', 'launcher.tree.arity': '1', 'bootcom.lease': '1000ms',
        'detector.ring.notifier': 'auto', 'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms',
        'detector.ring.grace': '300ms', 'detector.ring.order': 'cabinets:0*2,1*3,2*4,0*9',
        'detector.ring.reconnect': '2', 'detector.latency': '30ms', 'overlay.topology': 'tree:arity=3',
        'overlay.open': 'eager', 'overlay.queue': '1', 'bootcom.ws.interface': 'eth0',
        'client.enable': 'true', 'errmgr.launch': 'retry', 'detector.link.notifier': 'auto',
      },
      agree: { rounds: 25, pauseMs: 40, policy: 'notify' },
      link: { latencyMs: 3, jitterMs: 0, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 5000 },
    }),
  },
  {
    found: 'an attempt at a link of the overlay that began while both ends were cut off kept the other end from '
      + 'connecting until it timed out: what that sent was lost',
    plan: plainFailures({
      seed: 7_500_716, hosts: 4,
      faults: [
        { kind: 'part', hosts: [1, 2, 3], atMs: 719.3620654055849, lastsMs: 138.06217689206824 },
        { kind: 'part', hosts: [2, 3], atMs: 719.3620654055849, lastsMs: 1673.1882109306753 },
        { kind: 'part', hosts: [3, 0], atMs: 719.3620654055849, lastsMs: 827.09282473661 },
      ],
      settings: {
        ...AGAIN, detector: 'ring,witness', 'launcher.tree.arity': '8', 'bootcom.lease': '1000ms',
        'errmgr.launch': 'retry', 'detector.link.notifier': 'auto', 'detector.ring.notifier': 'auto',
        'detector.ring.period': '200ms', 'detector.ring.timeout': '600ms', 'detector.ring.grace': '300ms',
        'detector.ring.order': 'rank', 'detector.ring.reconnect': '2', 'detector.latency': '20ms',
        'overlay.topology': 'bmg', 'overlay.open': 'lazy', 'overlay.queue': '256', 'bootcom.ws.interface': 'eth0',
        'errmgr.loss.retries': '3',
      },
      link: { latencyMs: 1, jitterMs: 0.05, cutChance: 0.3, bytesPerMs: Infinity, timeoutMs: 5000 },
      isPatient: false,
    }),
  },
  {
    found: 'an agent that had stood still linked to another by an earlier attempt than the last, and took agents to be '
      + 'below it for good that others had been linked to meanwhile: what was for them got lost',
    plan: plainFailures({
      seed: 8_102_538, hosts: 6,
      faults: [
        { kind: 'freeze', host: 0, atMs: 909.0009572682902, lastsMs: 917.1174291307107 },
        { kind: 'freeze', host: 1, atMs: 556.1434170231223, lastsMs: 896.7113514896482 },
        { kind: 'freeze', host: 2, atMs: 389.0345450025052, lastsMs: 964.0669743586332 },
      ],
      settings: {
        detector: 'ring,witness', 'launcher.tree.arity': '1', 'bootcom.lease': '1000ms', 'errmgr.launch': 'retry',
        'bootcom.ws.interface': 'eth0', 'detector.ring.notifier': 'tree', 'detector.ring.period': '200ms',
        'detector.ring.timeout': '600ms', 'detector.ring.grace': '300ms', 'detector.ring.reconnect': '2',
        'client.enable': 'true', 'detector.latency': '20ms',
      },
      agree: { rounds: 7, pauseMs: 142.85714285714286, policy: 'notify' },
      link: { latencyMs: 1, jitterMs: 0.05, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
      isPatient: false,
    }),
  },
  {
    found: 'agents kept what they had sent to one that was given up, for good: notices that were refuted long ago '
      + 'reached its successor with the next repetition, which held an agent for dead that lives',
    plan: plainFailures({
      seed: 8_103_733, hosts: 4,
      faults: [
        { kind: 'part', hosts: [2, 3], atMs: 667.5389971584082, lastsMs: 1534.9067919887602 },
        { kind: 'part', hosts: [3], atMs: 853.5718683619052, lastsMs: 1.7247635119905074 },
      ],
      settings: {
        ...CHAIN, detector: 'ring,mesh,witness', 'bootcom.lease': '1000ms', 'errmgr.launch': 'retry',
        'bootcom.ws.interface': 'eth0', 'detector.link.notifier': 'hypercube', 'detector.ring.notifier': 'bmg',
        'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms', 'detector.ring.grace': '0',
        'detector.mesh.period': '100ms', 'detector.mesh.timeout': '500ms', 'detector.mesh.grace': '0',
        'detector.ring.reconnect': '2', 'errmgr.loss.pause': '20ms', 'client.enable': 'true',
        'detector.latency': '20ms',
      },
      agree: { rounds: 8, pauseMs: 0, policy: 'notify' },
      link: { latencyMs: 1, jitterMs: 0.05, cutChance: 0, bytesPerMs: 20_000, timeoutMs: 60_000 },
      isPatient: false,
    }),
  },
  {
    found: 'of two reports of an agent that had answered before, the second made a record, which was told, as a job '
      + 'ended, before the controller had asked that agent again',
    plan: plainFailures({
      seed: 8_102_982, hosts: 5,
      faults: [
        { kind: 'kill', host: 3, atMs: 913.1950516719371 },
        { kind: 'freeze', host: 4, atMs: 913.1950516719371, lastsMs: 881.6207731983159 },
        {
          kind: 'slow', between: [0, 'login'], atMs: 913.1950516719371, latencyMs: 192.04742074618116,
          lastsMs: 927.207429361064,
        },
      ],
      settings: {
        detector: 'ring,mesh,witness', 'bootcom.lease': '1000ms', 'detector.ring.notifier': 'direct',
        'detector.ring.period': '100ms', 'detector.ring.timeout': '300ms', 'detector.ring.grace': '0',
        'detector.mesh.notifier': 'hypercube', 'detector.mesh.period': '100ms', 'detector.mesh.timeout': '300ms',
        'detector.mesh.grace': '0', 'client.enable': 'true', 'bootcom.ws.interface': 'eth0', 'detector.latency': '20ms',
        'detector.link.notifier': 'auto', 'detector.ring.reconnect': '1', 'errmgr.launch': 'abort',
      },
      agree: { rounds: 26, pauseMs: 38.46153846153846, policy: 'notify' },
      link: { latencyMs: 1, jitterMs: 0, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
      isPatient: false,
    }),
  },
  {
    found: 'an agent whose parent was cut off from all refused the controller, and did not ask its parent as that had '
      + 'been silent for half of the lease already: it was given up with its parent',
    plan: plainFailures({
      seed: 8_104_363, hosts: 4,
      faults: [
        { kind: 'part', hosts: [0, 1, 2], atMs: 352.43635261431336 },
        { kind: 'part', hosts: [0], atMs: 352.43635261431336, lastsMs: 978.646725178929 },
      ],
      settings: {
        ...AGAIN, detector: 'ring,witness', 'bootcom.lease': '1000ms', 'errmgr.launch': 'retry',
        'detector.link.notifier': 'hypercube', 'detector.ring.notifier': 'hypercube', 'detector.ring.period': '200ms',
        'detector.ring.timeout': '600ms', 'detector.ring.grace': '0', 'errmgr.loss.retries': '5',
        'bootcom.ws.interface': 'eth0',
      },
      link: { latencyMs: 3, jitterMs: 0.5, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 5000 },
      isPatient: false,
    }),
  },
  {
    found: 'below an agent that was cut off from the controller, the next said that it was linked to that one, and was '
      + 'not asked again when that had let it go: those farther below had too little time left',
    plan: plainFailures({
      seed: 8_100_161, hosts: 6,
      faults: [
        { kind: 'cut', between: [1, 3], atMs: 510.19056430086493, lastsMs: 27.356304705453415 },
        { kind: 'cut', between: [0, 'login'], atMs: 438.6795669561252, lastsMs: 990.2781846467406 },
        { kind: 'cut', between: [0, 'login'], atMs: 760.2059151278809, lastsMs: 1177.8541509993374 },
      ],
      settings: {
        detector: 'mesh,witness', 'launcher.tree.arity': '1', 'bootcom.lease': '1000ms', 'errmgr.launch': 'retry',
        'detector.link.notifier': 'direct', 'detector.mesh.notifier': 'auto', 'detector.mesh.period': '100ms',
        'detector.mesh.timeout': '500ms', 'detector.mesh.grace': '0', 'client.enable': 'true',
        'detector.latency': '37ms', 'bootcom.ws.interface': 'eth0',
      },
      agree: { rounds: 16, pauseMs: 0, policy: 'notify' },
      link: { latencyMs: 3, jitterMs: 0.05, cutChance: 0, bytesPerMs: 20_000, timeoutMs: 5000 },
      isPatient: false,
    }),
  },
];
