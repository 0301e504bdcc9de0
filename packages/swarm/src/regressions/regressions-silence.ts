/** Runs that failed once, as in regressions.ts: silent hosts, and long reports. */

import { PLAIN, type Regression } from '../scenarios/plain.js';

export const SILENCE_REGRESSIONS: readonly Regression[] = [
  {
    found:
      'A report too long for one frame was cut into frames larger than the smallest bootcom.frame.max: the front-end ' +
      'closed its link to the controller, and waited for ever.',
    options: {
      ...PLAIN,
      seed: 4258,
      slots: 900,
      apps: [{ program: 'true', args: [], count: 900 }],
      settings: { launcherproc: 'local', 'bootcom.frame.max': '65536' },
    },
  },
  {
    found:
      'A host was cut off for less than its lease, but longer than the end of a job is waited for: its ranks were ' +
      'lost without a message, and reported again when it was back, after the end.',
    options: {
      ...PLAIN,
      seed: 9528,
      hosts: 6,
      remote: true,
      slots: 3,
      apps: [
        { program: 'ignore-term', args: ['2.5'], count: 12 },
        { program: 'fork', args: ['--wait', '1', 'lines', '1000', '80', '0.002'], count: 3 },
      ],
      byNode: true,
      settings: {
        launcherproc: 'remote',
        'launcher.tree.arity': '1',
        'tool.grace': '50ms',
        'bootcom.lease': '30s',
      },
      timeoutMs: 2096,
      faults: [
        { atMs: 11, kind: 'cut', pick: 0.5296462255064398, lastsMs: 900 },
        { atMs: 62, kind: 'pause-agent', pick: 0.16875559091567993, lastsMs: 1188 },
        { atMs: 977, kind: 'cut-host', pick: 0.9210848682560027, lastsMs: 12_643 },
        { atMs: 1333, kind: 'cut-host', pick: 0.057155556278303266, lastsMs: 12_891 },
      ],
      link: { latencyMs: 20, jitterMs: 0, cutChance: 0.5, bytesPerMs: Infinity, timeoutMs: 60_000 },
    },
  },
  {
    found:
      'A host whose planned parent was left out kept that parent in the membership: the report of its loss was taken ' +
      'for one of a former parent, and the job waited for ever.',
    options: {
      ...PLAIN,
      seed: 20676,
      hosts: 3,
      slots: 3,
      apps: [{ program: 'lines', args: ['20', '60', '0.05'], count: 7 }],
      byNode: true,
      settings: { launcherproc: 'local', 'launcher.tree.arity': '2', errmgr: 'continue', 'errmgr.launch': 'shrink' },
      faults: [
        { atMs: 0, kind: 'kill-start', pick: 0.39, start: 1, afterMs: 0 },
        { atMs: 1.78, kind: 'kill-agent', pick: 0.13, signal: 'SIGTERM' },
        { atMs: 308, kind: 'kill-agent', pick: 0.4, signal: 'SIGKILL' },
      ],
      link: { latencyMs: 1, jitterMs: 0, cutChance: 0.05, bytesPerMs: Infinity, timeoutMs: 60_000 },
    },
  },
  {
    found:
      'Agents that the end of the session had linked to again, because their links were closed when it took too ' +
      'long, were taken for ended: attempts to reach them were left after the end.',
    options: {
      ...PLAIN,
      seed: 92_106_708,
      hosts: 2,
      remote: true,
      slots: 3,
      apps: [
        { program: 'read-one-line-and-exit', args: [], count: 3 },
        { program: 'close-stdout', args: ['0.3'], count: 2 },
        { program: 'sleep', args: ['0.5'], count: 1 },
      ],
      settings: {
        launcherproc: 'remote',
        'launcher.tree.arity': '8',
        errmgr: 'continue',
        'tool.grace': '50ms',
        'bootcom.lease': '30s',
      },
      stdin: { to: 'rank', rank: 4 },
      stdinBytes: 1,
      timeoutMs: 3567,
      faults: [
        { atMs: 3.6, kind: 'cut-host', pick: 0.39 },
        { atMs: 34, kind: 'pause-tool', pick: 0.8412623757030815, lastsMs: 976 },
        { atMs: 72, kind: 'cut-host', pick: 0.65, lastsMs: 11_139 },
      ],
      link: { latencyMs: 0.1, jitterMs: 0, cutChance: 0.05, bytesPerMs: 5000, timeoutMs: 60_000 },
    },
  },
  {
    found:
      'What carried a link stood still for longer than the lease. Over the overlay the controller heard that hosts ' +
      'were done before the front-end had their output, and ended the job: it was lost, with exit code 0.',
    options: {
      ...PLAIN,
      hosts: 8,
      remote: true,
      apps: [{ program: 'lines', args: ['5', '60', '0.02'], count: 8 }],
      byNode: true,
      settings: {
        launcherproc: 'remote', 'launcher.tree.arity': '2', 'launcher.session.method': 'process', errmgr: 'continue',
        'bootcom.lease': '2000ms', 'overlay.topology': 'bmg', 'overlay.open': 'eager', 'bootcom.ws.interface': 'eth0',
      },
      faults: [{ atMs: 20, pick: 0.14583333333333334, kind: 'pause-agent', lastsMs: 4000 }],
    },
  },
];
