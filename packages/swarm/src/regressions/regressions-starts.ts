/** Runs that failed once, as in regressions.ts: agents that are started more than once. */

import { PLAIN, type Regression } from '../scenarios/plain.js';

export const START_REGRESSIONS: readonly Regression[] = [
  {
    found:
      'A host that was lost while hosts came up, was started again and was lost once more, was reported in the same ' +
      'words both times, as if one failure had been reported twice.',
    options: {
      ...PLAIN,
      seed: 7002084,
      hosts: 8,
      apps: [
        { program: 'count-input', args: [], count: 5 },
        { program: 'fork', args: ['--wait', '1', 'lines', '1000', '80', '0.002'], count: 2 },
      ],
      byNode: true,
      settings: {
        launcherproc: 'local',
        'launcher.tree.arity': '2',
        'launcher.session.method': 'thread',
        'bootcom.boot': 'ws',
        'launcher.window': '32',
        'tool.grace': '50ms',
        'errmgr.launch': 'retry',
        'launcher.handshake': '3000ms',
      },
      stdin: { to: 'rank', rank: 2 },
      releaseMs: 20,
      faults: [
        { atMs: 0, kind: 'kill-start', pick: 0.802620060974732, start: 3, afterMs: 0 },
        { atMs: 4.2000649159719865, kind: 'kill-agent', pick: 0.3889893980231136, signal: 'SIGKILL' },
        { atMs: 43.06436895385377, kind: 'kill-agent', pick: 0.8834164112340659, signal: 'SIGKILL' },
      ],
      controls: [
        { atMs: 0.6245040988798076, kind: 'signal', signal: 'SIGTSTP' },
        { atMs: 100.62450409887981, kind: 'signal', signal: 'SIGCONT' },
      ],
      link: { latencyMs: 0.02, jitterMs: 5, cutChance: 0, bytesPerMs: 5000, timeoutMs: 60_000 },
      pipeBytes: 4096,
    },
  },
  {
    found: 'The same, on hosts of their own, with the error manager continue.',
    options: {
      ...PLAIN,
      seed: 7009957,
      hosts: 7,
      remote: true,
      slots: 2,
      apps: [
        { program: 'hostname', args: [], count: 5 },
        { program: 'crash', args: ['SIGABRT', '0.7'], count: 5 },
        { program: 'sleep', args: ['0.5'], count: 3 },
      ],
      byNode: true,
      settings: {
        launcherproc: 'remote',
        'launcher.tree.arity': '1',
        errmgr: 'continue',
        'launcher.session.method': 'process',
        'bootcom.boot': 'ws',
        'launcher.window': '32',
        'tool.grace': '50ms',
        'iof.window': '65536',
        'iof.drain': '1000ms',
        'errmgr.launch': 'retry',
        'launcher.handshake': '500ms',
      },
      stdinBytes: 100,
      faults: [
        { atMs: 4.192596123903908, kind: 'kill-agent', pick: 0.986951844766736, signal: 'SIGTERM' },
        { atMs: 8.721071915168581, kind: 'kill-agent', pick: 0.584753900533542, signal: 'SIGKILL' },
        { atMs: 84.71218458148005, kind: 'kill-agent', pick: 0.22209656867198646, signal: 'SIGKILL' },
      ],
      link: { latencyMs: 0.1, jitterMs: 0.05, cutChance: 0, bytesPerMs: 100000, timeoutMs: 60_000 },
    },
  },
];
