/** Runs with failures while agents are started together, and what each found. */

import { PLAIN } from '../scenarios/plain.js';
import { plainFailures, type FailureRegression } from './regressions-failures.js';

const TOGETHER = { launcherproc: 'together' };
const IN_LAUNCH = 'agents that waited below one that was linked and died in the launch were given up with it, and went '
  + 'on waiting beside those that were started in their place';

export const TOGETHER_REGRESSIONS: readonly FailureRegression[] = [
  {
    found: `${IN_LAUNCH}: the dead one is started again (seed 73002506)`,
    plan: plainFailures({
      hosts: 4, faults: [], link: { ...PLAIN.link, latencyMs: 1 },
      edges: [{ when: 'launch', kind: 'kill', host: 3, atMs: 10 }],
      settings: { ...TOGETHER, 'errmgr.launch': 'retry', launcher: 'random', 'launcher.random.seed': '81' },
    }),
  },
  {
    found: `${IN_LAUNCH}: the dead one is left out (seed 73002586)`,
    plan: plainFailures({
      hosts: 3, faults: [], link: { ...PLAIN.link, latencyMs: 3 },
      edges: [{ when: 'launch', kind: 'kill', host: 0, atMs: 24 }],
      settings: { ...TOGETHER, 'errmgr.launch': 'shrink' },
    }),
  },
  {
    found: 'the simulation took an agent that nobody had reached, so that its host was left out, for one of the '
      + 'session: it waits for its parent, and ends with the session (seed 260000182)',
    plan: plainFailures({
      hosts: 4, faults: [], isPatient: false,
      edges: [{ when: 'launch', atMs: 0, kind: 'cut', between: [0, 2], lastsMs: 250 }],
      settings: {
        ...TOGETHER, 'launcherproc.together.late': '50ms', 'errmgr.launch': 'shrink', launcher: 'random',
        'launcher.tree.arity': '2',
      },
    }),
  },
  {
    found: 'the start of an agent was given up while the agent that started it was cut off, which went on with it: '
      + 'two agents of one host (seed 243003262)',
    plan: plainFailures({
      hosts: 3, isPatient: false,
      faults: [
        { atMs: 803, kind: 'kill', host: 2 },
        { atMs: 827, kind: 'kill', host: 0 },
        { atMs: 856, kind: 'freeze', host: 'login', lastsMs: 143 },
        { atMs: 0, kind: 'slow', between: [0, 'login'], latencyMs: 11, lastsMs: 815 },
        { atMs: 0, kind: 'slow', between: [1, 'login'], latencyMs: 15, lastsMs: 1875 },
      ],
      settings: {
        ...TOGETHER, 'launcher.tree.arity': '1', 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '0ms',
        'detector.latency': '20ms',
      },
    }),
  },
  {
    found: 'an agent that was asked while it still had a parent said so, and was taken for one that cannot be reached: '
      + 'the end of the connection was told before what had come over it (seed 310001687)',
    plan: plainFailures({
      hosts: 5, faults: [{ atMs: 801, kind: 'cut', between: [3, 4], lastsMs: 934 }],
      settings: {
        ...TOGETHER, 'launcherproc.together.late': '5ms', launcher: 'random', 'launcher.random.seed': '210',
        detector: 'ring,witness', 'detector.ring.period': '200ms', 'bootcom.lease': '1000ms',
        'bootcom.ws.interface': 'eth0', 'overlay.topology': 'bmg', 'overlay.open': 'lazy',
      },
    }),
  },
  {
    found: 'an agent took the connection of one that crashed before it sent anything, and waited on beside the '
      + 'agent that was started in its place: two agents of one host (seed 340003200)',
    plan: plainFailures({
      hosts: 2, faults: [], link: { ...PLAIN.link, latencyMs: 3 },
      edges: [{ when: 'launch', atMs: 74, kind: 'crash', host: 0, backMs: 0 }],
      settings: {
        ...TOGETHER, 'launcherproc.together.late': '50ms', 'errmgr.launch': 'retry', detector: 'witness',
        'launcher.tree.arity': '1', 'bootcom.lease': '2000ms', 'detector.latency': '20ms',
      },
    }),
  },
];
