/** Sessions that failed once, each with what it found. */

import type { AppPlan } from '../scenarios/programs.js';
import type { FrontEndPlan, SessionOptions } from '../scenarios/session-plan.js';

export interface SessionRegression {
  readonly found: string;
  readonly options: SessionOptions;
}

const SUBMIT: FrontEndPlan = { kind: 'submit', job: 0, atMs: 0, all: false, releaseMs: 0, leave: undefined };
const ATTACH: FrontEndPlan = { ...SUBMIT, kind: 'attach', atMs: 2000 };
const WAIT: FrontEndPlan = { ...SUBMIT, kind: 'wait', atMs: 10 };

/** One job on some hosts, undisturbed. */
export function plainSession(app: AppPlan, over: Partial<SessionOptions> = {}): SessionOptions {
  return {
    seed: 1,
    hosts: 4,
    settings: { launcherproc: 'remote', 'launcher.tree.arity': '2', 'bootcom.lease': '2s' },
    jobs: [{ app, stdinBytes: 0 }],
    frontEnds: [SUBMIT, ATTACH, WAIT],
    kills: [],
    spoolBytes: 256 * 1024,
    diskBytes: Infinity,
    ...over,
  };
}

export const SESSION_REGRESSIONS: readonly SessionRegression[] = [
  {
    found: 'A front-end that was told to detach while output waited to be shown did not end before the job: what came '
      + 'after the key was never dealt with, and it waited for that.',
    options: plainSession({ program: 'lines', args: ['200', '60', '0.01'], count: 2 }, {
      frontEnds: [
        { ...SUBMIT, releaseMs: 300, leave: { how: 'detach', afterMs: 500, stoppedMs: 0 } },
        { ...ATTACH, atMs: 1500 }, WAIT,
      ],
    }),
  },
  {
    found: 'Output that came after a front-end had been told to detach was lost to the next: events that came behind '
      + 'it counted as that output, shown (seeds 190921300, 500108).',
    options: plainSession({ program: 'lines', args: ['20', '60', '0.02'], count: 1 }, {
      frontEnds: [
        { ...SUBMIT, releaseMs: 300, leave: { how: 'detach', afterMs: 150, stoppedMs: 0 } },
        ATTACH, WAIT,
      ],
    }),
  },
  {
    found: 'Of a stream nothing but its end was dropped: to the byte nothing is missing, and nobody tells the end; the '
      + 'checker took that for lost (seed 190921373).',
    options: plainSession({ program: 'mixed', args: ['600', '80'], count: 12 }, {
      seed: 2, diskBytes: 100_000, frontEnds: [{ ...SUBMIT, kind: 'detached' }, { ...ATTACH, atMs: 1000 }],
    }),
  },
  {
    found: 'A host that was lost at the same time as the one above its parent was started again by the controller; its '
      + 'former parent was linked again with those that it had below it before, and the way to the host led there for '
      + 'good: no job ran on it (seed 620236).',
    options: plainSession({ program: 'true', args: [], count: 8 }, {
      hosts: 8,
      settings: {
        launcherproc: 'remote', 'launcher.tree.arity': '2', 'bootcom.lease': '2s', 'errmgr.loss': 'start-again',
        'errmgr.loss.pause': '0ms', 'errmgr.loss.retries': '4', 'overlay.topology': 'bmg', 'overlay.open': 'eager',
        'bootcom.ws.interface': 'eth0',
      },
      kills: [{ atMs: 500, what: 'agent', pick: 0.01 }, { atMs: 501, what: 'agent', pick: 0.95 }],
    }),
  },
  {
    found: 'One that attached while another had attached to all, and had not been told yet what was missed of it, went '
      + 'on there and was never told (seed 420100351).',
    options: plainSession({ program: 'lines', args: ['984'], count: 50 }, {
      diskBytes: 200_000,
      frontEnds: [
        { ...SUBMIT, kind: 'detached' }, { ...ATTACH, atMs: 3000, all: true, releaseMs: 300 },
        { ...ATTACH, atMs: 3002 },
      ],
    }),
  },
  {
    found: 'The simulation took one that stood still as it attached for the first, though another had come and shown '
      + 'all before it went on (seed 420300930).',
    options: plainSession({ program: 'lines', args: [], count: 1 }, {
      frontEnds: [
        { ...SUBMIT, kind: 'detached' }, { ...ATTACH, atMs: 0, leave: { how: 'stop', afterMs: 0, stoppedMs: 1709 } },
        { ...ATTACH, atMs: 1699 },
      ],
    }),
  },
];
