/** Runs with failures in which a link or an agent was lost and others paid for it, and what each found. */

import type { FailureFault } from '../scenarios/failure-plan.js';
import { plainFailures, type FailureRegression } from './regressions-failures.js';

const CHAIN = { 'launcher.tree.arity': '1', 'bootcom.lease': '1000ms' };
const MESH = { 'detector.mesh.period': '200ms', 'detector.mesh.timeout': '600ms', 'detector.mesh.grace': '0' };
const RING = { 'detector.ring.period': '200ms', 'detector.ring.timeout': '600ms' };
const LINK = { latencyMs: 3, jitterMs: 0, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 };
/** Agents that stood still are started again after a short pause, while attempts to link to them go on. */
const THAWED = {
  isPatient: false, link: { ...LINK, jitterMs: 10.5 }, brief: { lastsMs: 4909.961510705762, policy: 'abort' },
  settings: {
    'launcher.tree.arity': '1', detector: 'ring,witness', 'detector.ring.period': '50ms',
    'detector.ring.timeout': '250ms', 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '20ms',
    'detector.latency': '135ms',
  },
} as const;

/** From when on each host's link to the controller is slow; undefined: it is not. */
function slowLinks(...fromMs: readonly (number | undefined)[]): FailureFault[] {
  return fromMs.flatMap((atMs, host) => (atMs === undefined ? [] : [
    { kind: 'slow', between: [host, 'login'], atMs, latencyMs: 73.03308030590414, lastsMs: 5669.7252486922 },
  ]));
}

export const CUT_REGRESSIONS: readonly FailureRegression[] = [
  {
    found: 'below an agent that had lost its parent others refused to be linked again, since it still lived: each '
      + 'waited for half of what the one above it had left, and was given up',
    plan: plainFailures({
      hosts: 6, link: LINK, faults: [{ atMs: 467, kind: 'cut', between: [0, 'login'], lastsMs: 2791 }],
      settings: { ...CHAIN, ...RING, ...MESH, detector: 'ring,mesh,witness', 'detector.ring.grace': '300ms' },
    }),
  },
  {
    found: 'the same where two links were cut at the same time',
    plan: plainFailures({
      hosts: 4, link: { ...LINK, jitterMs: 0.05 },
      faults: [
        { atMs: 671.66, kind: 'cut', between: [0, 3], lastsMs: 93.68 },
        { atMs: 671.66, kind: 'cut', between: [1, 2], lastsMs: 1717.9 },
      ],
      settings: { ...CHAIN, ...RING, detector: 'ring,witness', 'detector.ring.grace': '0', 'detector.latency': '25ms' },
    }),
  },
  {
    found: 'a frame of one that was above an agent waited there for a link of the overlay, for seconds; then that '
      + 'agent had another parent, which took the frame for one in a wrong name, and closed the link',
    plan: plainFailures({
      seed: 710_610, hosts: 6, isPatient: false, link: { ...LINK, latencyMs: 1, timeoutMs: 5000 },
      faults: [
        { atMs: 907.35, kind: 'part', hosts: [1, 2, 3], lastsMs: 1423.87 },
        { atMs: 907.35, kind: 'part', hosts: [2, 3, 4] },
        { atMs: 907.35, kind: 'part', hosts: [3, 4], lastsMs: 106.43 },
      ],
      settings: {
        ...CHAIN, detector: 'ring,swim,witness', 'detector.link.notifier': 'direct', 'detector.ring.notifier': 'lazy',
        'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms', 'detector.ring.grace': '300ms',
        'detector.ring.reconnect': '2', 'detector.swim.notifier': 'bmg', 'detector.swim.period': '100ms',
        'detector.swim.grace': '300ms', 'overlay.topology': 'mesh:wrap=true', 'overlay.open': 'lazy',
        'bootcom.ws.interface': 'eth0', 'detector.latency': '20ms',
      },
    }),
  },
  {
    found: 'an agent on the ring next to the controller, but far below it in the boot tree, did not hear it over one '
      + 'that stood still: it closed the link to its own parent, which lived, and was given up',
    plan: plainFailures({
      hosts: 4, link: { ...LINK, latencyMs: 0.2, jitterMs: 0.5 },
      // 0 is below 1, and 1 below 3.
      faults: [{ atMs: 917, kind: 'freeze', host: 3, lastsMs: 2536 }],
      settings: {
        launcher: 'random', 'launcher.random.seed': '276', 'bootcom.lease': '1000ms', detector: 'ring,witness',
        'detector.ring.notifier': 'tree', 'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms',
        'detector.ring.grace': '300ms', 'detector.ring.reconnect': '1', 'detector.latency': '20ms',
      },
    }),
  },
  {
    found: 'news of a lost host had gone by a link of the overlay that was cut with it, and were sent again by a probe '
      + 'only, 0.8 s later: the host had waited for another parent in vain (seed 250100257)',
    plan: plainFailures({
      hosts: 6, isPatient: false, link: { ...LINK, latencyMs: 0.2, jitterMs: 0.5, bytesPerMs: 20_000, timeoutMs: 5000 },
      faults: [
        { atMs: 968.9127570949495, kind: 'part', hosts: [4, 5] },
        { atMs: 968.9127570949495, kind: 'part', hosts: [2], lastsMs: 2679.7793582081795 },
        { atMs: 968.9127570949495, kind: 'part', hosts: [1, 2, 3], lastsMs: 86.1415603912125 },
      ],
      settings: {
        ...CHAIN, launcher: 'random', 'launcher.random.seed': '342', detector: 'swim,witness',
        'detector.swim.period': '100ms', 'detector.latency': '20ms', 'overlay.topology': 'bmg',
        'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'a host was asked after while it waited for another parent, was linked 11 ms before the time of the answer, '
      + 'which came 4 ms after it, and was given up (seed 260400233)',
    plan: plainFailures({
      hosts: 4, isPatient: false, link: { ...LINK, jitterMs: 0.5, bytesPerMs: 20_000, timeoutMs: 5000 },
      seed: 260_400_233,
      faults: [
        { atMs: 1188.0219411104918, kind: 'freeze', host: 0, lastsMs: 5604.875602759421 },
        { atMs: 592.4403231590986, kind: 'freeze', host: 1, lastsMs: 1817.033511179965 },
        { atMs: 1569.3717302754521, kind: 'freeze', host: 2, lastsMs: 4332.907717674971 },
      ],
      settings: {
        'launcher.tree.arity': '2', 'bootcom.lease': '2000ms', 'errmgr.launch': 'shrink', 'detector.latency': '20ms',
        'bootcom.ws.interface': 'eth0', detector: 'ring,mesh,witness', 'detector.link.notifier': 'direct',
        'detector.ring.notifier': 'bmg', 'detector.ring.period': '50ms', 'detector.ring.timeout': '500ms',
        'detector.ring.grace': '0', 'detector.ring.order': 'rank', 'detector.ring.reconnect': '1',
        'detector.mesh.notifier': 'hypercube', 'detector.mesh.period': '50ms', 'detector.mesh.timeout': '500ms',
        'detector.mesh.grace': '0', 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '20ms',
        'errmgr.loss.retries': '3', launcherproc: 'together', 'launcherproc.together.late': '0ms',
        'launcherproc.together.ends': 'true',
      },
    }),
  },
  {
    found: 'an agent below a cut link did not answer, but the one above it did, over a link of the overlay: it was '
      + 'given up while that one was still being asked after, and could have been linked elsewhere',
    plan: plainFailures({
      hosts: 14, isPatient: false, link: { ...LINK, latencyMs: 1, jitterMs: 0.05 },
      faults: [{ atMs: 505, kind: 'cut', between: [2, 0], lastsMs: 5000 }],
      settings: {
        detector: 'ring,swim,witness', 'bootcom.lease': '4000ms', 'detector.ring.period': '100ms',
        'detector.ring.timeout': '300ms', 'detector.swim.period': '100ms', 'detector.swim.grace': '300ms',
        'overlay.topology': 'tree:arity=3', 'overlay.open': 'lazy', 'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'an agent answered and died; the answer of the one below it was lost with it, which was given up at once',
    plan: plainFailures({
      seed: 643_000_114, hosts: 7, isPatient: false, isTimed: true, link: { ...LINK, jitterMs: 0.5 },
      faults: [{ atMs: 1236.31, kind: 'crash', host: 5 }, { atMs: 1768.76, kind: 'crash', host: 6 }],
      settings: {
        launcher: 'random', 'launcher.random.seed': '289', 'launcher.tree.arity': '8', 'bootcom.lease': '10000ms',
        detector: 'ring,witness', 'detector.ring.period': '100ms', 'detector.ring.timeout': '600ms',
        'detector.ring.grace': '0', 'detector.ring.reconnect': '1', 'detector.ring.notifier': 'lazy',
        'overlay.topology': 'bmg', 'overlay.open': 'eager', 'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'the same, where the one below was the one that had been asked after (seed 245000241)',
    plan: plainFailures({
      seed: 245_000_241, hosts: 4, isPatient: false, link: { ...LINK, latencyMs: 1 },
      faults: [{ atMs: 604, kind: 'crash', host: 0, backMs: 0 }, { atMs: 1122.6535855792463, kind: 'crash', host: 1 }],
      settings: {
        launcher: 'random', 'launcher.random.seed': '372', detector: 'swim,witness', 'detector.swim.period': '50ms',
        'detector.swim.grace': '300ms', 'detector.latency': '20ms',
      },
      brief: { lastsMs: 658, policy: 'abort' },
    }),
  },
  {
    found: 'an agent below a cut link did not answer, as the tree leads over that link, but the one above it did, over '
      + 'a link of the overlay: it was given up, though that one hears it',
    plan: plainFailures({
      hosts: 7, link: { ...LINK, latencyMs: 1 }, faults: [{ atMs: 660, kind: 'cut', between: [2, 0], lastsMs: 869 }],
      settings: {
        ...RING, detector: 'ring,witness', 'bootcom.lease': '1000ms', 'overlay.topology': 'tree:arity=3',
        'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'the simulation took a detector that asks while somebody waits for one that finds the second of two failed '
      + 'agents, one below the other, before the first is given up (seed 280000241)',
    plan: plainFailures({
      hosts: 3, isPatient: false, link: LINK,
      faults: [
        { atMs: 947.7716990746558, kind: 'part', hosts: [0], lastsMs: 1343 },
        { atMs: 947.7716990746558, kind: 'kill', host: 1 },
      ],
      settings: {
        ...CHAIN, detector: 'sporadic,witness', 'detector.sporadic.period': '100ms', 'detector.latency': '20ms',
        'overlay.topology': 'mesh:wrap=true', 'bootcom.ws.interface': 'eth0',
      },
      brief: { lastsMs: 465.565030137077, policy: 'continue' },
    }),
  },
  {
    found: 'the simulation judged a run whose agents had been started again, while their detectors still waited for '
      + 'overlay links to hosts that are cut off: the witnesses there had sent nothing yet',
    plan: plainFailures({
      hosts: 6, isPatient: false, link: { ...LINK, latencyMs: 1 },
      faults: [
        { atMs: 1601, kind: 'part', hosts: [0, 1, 2], lastsMs: 2727 }, { atMs: 1314, kind: 'part', hosts: [5, 6] },
      ],
      settings: {
        detector: 'mesh,witness', 'detector.mesh.period': '200ms', 'detector.mesh.timeout': '1000ms',
        'overlay.topology': 'bmg', 'errmgr.loss': 'start-again', 'bootcom.ws.interface': 'eth0',
      },
    }),
  },
  {
    found: 'an agent was given up while another was about to link to it, and its host was started again before the '
      + 'answer came: the link was kept, and with it a second agent of the host',
    plan: plainFailures({
      hosts: 5, ...THAWED,
      faults: [
        { atMs: 1898, kind: 'freeze', host: 1, lastsMs: 484 }, { atMs: 304, kind: 'freeze', host: 3, lastsMs: 4511 },
        { kind: 'kill', host: 2, atMs: 800 }, { kind: 'freeze', host: 'login', atMs: 1129, lastsMs: 1296 },
        { kind: 'freeze', host: 'login', atMs: 3426, lastsMs: 982 }, ...slowLinks(246, 300, 300),
      ],
    }),
  },
  {
    found: 'the same, where the link to the former agent was a way to its host from then on, and not to the next agent',
    plan: plainFailures({
      hosts: 5, ...THAWED,
      faults: [
        { atMs: 1888, kind: 'freeze', host: 1, lastsMs: 487 }, { atMs: 311, kind: 'freeze', host: 3, lastsMs: 4745 },
        { kind: 'kill', host: 2, atMs: 781 }, { kind: 'freeze', host: 'login', atMs: 1131, lastsMs: 1294 },
        { kind: 'freeze', host: 'login', atMs: 3393, lastsMs: 999 },
        { kind: 'slow', between: [0, 'login'], atMs: 0, latencyMs: 68, lastsMs: 5455 },
        ...slowLinks(undefined, 300, 300, undefined, 300),
      ],
    }),
  },
  {
    found: 'an agent took hosts to be below one that it had linked to, while they had no way; their links were then '
      + 'found kept, and the agent was not told that they are below another: nothing reached them any more',
    plan: plainFailures({
      hosts: 7, settings: CHAIN, link: { ...LINK, latencyMs: 0.1, jitterMs: 9 },
      faults: [
        { atMs: 974, kind: 'part', hosts: [5, 6], lastsMs: 167 }, { atMs: 957.8636234393343, kind: 'kill', host: 2 },
        { atMs: 464.4277464831248, kind: 'kill', host: 0 },
        { kind: 'slow', between: [0, 'login'], atMs: 71, latencyMs: 35.4, lastsMs: 653 },
        ...[1, 2].map((host) => ({
          kind: 'slow', between: [host, 'login'], atMs: 300, latencyMs: 35.439987713471055, lastsMs: 3309.412706059298,
        } as const)),
      ],
    }),
  },
  {
    found: 'a link of the overlay to the controller was cut, and its agent told over it in vain that the one below had '
      + 'left: detectors took the controller for dead, and stopped watching for each other (seed 410200228)',
    plan: plainFailures({
      hosts: 3, isPatient: false, faults: [{ atMs: 52, kind: 'cut', between: [1, 'login'], lastsMs: 2986 }],
      settings: {
        detector: 'ring,mesh,witness', 'launcher.tree.arity': '1', 'bootcom.lease': '2000ms',
        'bootcom.ws.interface': 'eth0', 'detector.ring.period': '50ms', 'detector.ring.timeout': '250ms',
        'detector.mesh.period': '50ms', 'detector.mesh.timeout': '250ms', 'detector.mesh.grace': '300ms',
        'detector.ring.reconnect': '1', 'overlay.topology': 'tree:arity=3', 'detector.latency': '20ms',
      },
    }),
  },
  {
    found: 'the simulation asked who reaches whom in the moment in which a host came up again, whose start had waited '
      + 'for those of two crashed hosts above it (seed 330021395)',
    plan: plainFailures({
      hosts: 5,
      faults: [
        { atMs: 0, kind: 'crash', host: 0 }, { atMs: 0, kind: 'crash', host: 1 },
        { atMs: 0, kind: 'crash', host: 2, backMs: 70 },
      ],
      settings: {
        launcher: 'random', 'bootcom.lease': '1000ms', 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '300ms',
      },
    }),
  },
  {
    found: 'two neighbours died at once, and the notices of the detector followed the boot tree, in which nobody was '
      + 'told past the dead one: the simulation held the one below for one that had lived on (seed 340020766)',
    plan: plainFailures({
      hosts: 5,
      faults: [
        { kind: 'crash', host: 0, atMs: 787.639751820825, backMs: 0 },
        { kind: 'kill', host: 1, atMs: 787.639751820825 },
      ],
      settings: {
        ...CHAIN, detector: 'ring,witness', 'detector.ring.notifier': 'tree', 'detector.ring.period': '100ms',
        'detector.ring.timeout': '500ms', 'detector.ring.grace': '0', 'detector.latency': '20ms',
        'bootcom.ws.interface': 'eth0', 'overlay.topology': 'bmg', 'overlay.open': 'eager',
        'errmgr.loss': 'start-again',
      },
    }),
  },
  {
    found: 'an agent that stood still for a moment, in which one below it was suspected, was given up: it was asked '
      + 'once, for less than the time for which it may be silent (seed 450022141)',
    plan: plainFailures({
      hosts: 13, isPatient: false,
      faults: [
        { kind: 'freeze', host: 4, atMs: 1488, lastsMs: 1997 }, { kind: 'freeze', host: 9, atMs: 2346, lastsMs: 292 },
      ],
      settings: {
        detector: 'ring,mesh,witness', 'detector.ring.period': '200ms', 'detector.ring.timeout': '1000ms',
        'detector.mesh.period': '200ms', 'detector.mesh.timeout': '1000ms', launcher: 'random',
        'launcher.random.seed': '604', 'overlay.topology': 'bmg', 'overlay.open': 'lazy', 'errmgr.loss': 'start-again',
        'bootcom.ws.interface': 'eth0',
      },
      link: { ...LINK, latencyMs: 1, cutChance: 0.3 },
    }),
  },
  {
    found: 'two agents above one stood still, and the detector took as long as the lease to suspect: the simulation '
      + 'held the one below for one that had lived on (seed 350203440)',
    plan: plainFailures({
      hosts: 4, isPatient: false,
      faults: [
        { kind: 'freeze', host: 3, atMs: 361.85123312752694, lastsMs: 527 },
        { kind: 'freeze', host: 0, atMs: 361.85123312752694, lastsMs: 1981 },
      ],
      settings: {
        detector: 'ring,witness', 'bootcom.lease': '1000ms', 'bootcom.ws.interface': 'eth0', 'detector.latency': '20ms',
        'overlay.topology': 'bmg', launcher: 'random', 'launcher.random.seed': '201',
      },
      edges: [{ when: 'end', atMs: 233, kind: 'kill', host: 0 }],
    }),
  },
  {
    found: 'the same with a detector that suspects for several periods before it tells (seed 350082589)',
    plan: plainFailures({
      seed: 87_520_647, hosts: 4, isPatient: false,
      faults: [
        { kind: 'freeze', host: 1, atMs: 854.326033894904, lastsMs: 1748 },
        { kind: 'freeze', host: 0, atMs: 854.326033894904, lastsMs: 828.1282717690337 },
      ],
      settings: {
        ...CHAIN, detector: 'swim,witness', 'bootcom.ws.interface': 'eth0', 'overlay.topology': 'mesh:wrap=true',
        'errmgr.loss': 'start-again', 'detector.latency': '20ms',
      },
    }),
  },
  {
    found: 'who reaches whom was asked while an agent that had been started again behind a cut still opened the first '
      + 'links of its overlay (seed 350301068)',
    plan: plainFailures({
      hosts: 2,
      faults: [{ kind: 'part', hosts: [1], atMs: 226, lastsMs: 794 }, { kind: 'part', hosts: [0], atMs: 3 }],
      settings: {
        detector: 'ring,witness', 'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms',
        'bootcom.lease': '1000ms', 'bootcom.ws.interface': 'eth0', 'detector.latency': '20ms',
        'overlay.topology': 'bmg', launcher: 'random', 'errmgr.loss': 'start-again',
      },
      edges: [{ when: 'launch', atMs: 5, kind: 'kill', host: 0 }],
    }),
  },
  {
    found: 'an agent was linked past its parent while all above it were cut off: its former parent was not told how it '
      + 'is reached now, and what ranks there sent to it never came (seed 450341646)',
    plan: plainFailures({
      seed: 450_341_645, hosts: 12, brief: { lastsMs: 1116.5323456283659, policy: 'abort' }, isPatient: false,
      faults: [
        { kind: 'freeze', host: 11, atMs: 1425.7458176929504, lastsMs: 4442.132977768779 },
        { kind: 'freeze', host: 2, atMs: 1425.7458176929504, lastsMs: 3796.0741764265113 },
        { kind: 'kill', host: 1, atMs: 661.6903667338192 },
        { kind: 'freeze', host: 'login', atMs: 661.6903667338192, lastsMs: 2845.5512661486864 },
        { kind: 'freeze', host: 'login', atMs: 4744.304372742772, lastsMs: 1201.6228766180575 },
      ],
      settings: {
        detector: 'mesh,witness', 'detector.mesh.period': '100ms', 'detector.mesh.grace': '300ms', launcher: 'random',
        'launcher.random.seed': '879', 'bootcom.lease': '4000ms', 'detector.latency': '242ms',
      },
      link: { latencyMs: 0.05, jitterMs: 10, cutChance: 0, bytesPerMs: 20_000, timeoutMs: 60_000 },
    }),
  },
  {
    found: 'two agents crashed, one below the other: the notice of the second waited at its receivers for a command '
      + 'that was sent before it, and could not come before the tree was mended',
    plan: plainFailures({
      seed: 40_739_310, hosts: 7, isPatient: false, isTimed: true, link: { ...LINK, latencyMs: 0.05 },
      faults: [
        { kind: 'crash', host: 5, atMs: 1483.2948450930417 }, { kind: 'crash', host: 6, atMs: 1536.8960602208972 },
      ],
      settings: {
        detector: 'ring,witness', 'detector.ring.timeout': '300ms', 'detector.ring.grace': '0',
        'detector.ring.period': '100ms', 'detector.ring.reconnect': '1', 'detector.ring.notifier': 'bmg',
        'overlay.topology': 'bmg', 'overlay.open': 'eager', 'launcher.tree.arity': '2', 'bootcom.lease': '10000ms',
        'bootcom.ws.interface': 'eth0', launcher: 'random', 'launcher.random.seed': '875',
      },
    }),
  },
];
