/**
 * Runs that failed once, each with what it found. They are kept as the options that were drawn, since what a seed draws
 * changes with the drawing.
 */

import { PLAIN, type Regression } from '../scenarios/plain.js';
import { OVER_REGRESSIONS } from './regressions-over.js';
import { RESTART_REGRESSIONS } from './regressions-restarts.js';
import { SILENCE_REGRESSIONS } from './regressions-silence.js';
import { START_REGRESSIONS } from './regressions-starts.js';

export const REGRESSIONS: readonly Regression[] = [
  {
    found:
      'Input for all ranks was sent when the job was mapped, before the agents were there, and from the ' +
      'front-end down nowhere at all: `cat` and the like waited for ever.',
    options: {
      ...PLAIN,
      seed: 61,
      hosts: 7,
      remote: true,
      slots: 2,
      apps: [
        { program: 'close-stdout', args: ['0.001'], count: 4 },
        { program: 'stderr', args: ['300', '72'], count: 2 },
        { program: 'read-one-line-and-exit', args: [], count: 2 },
      ],
      settings: {
        launcherproc: 'remote',
        launcher: 'tree',
        'launcher.tree.arity': '2',
        errmgr: 'continue',
        'launcher.window': '4',
        'tool.grace': '50ms',
        'iof.window': '65536',
      },
      stdin: { to: 'all' },
      stdinBytes: 5000,
      link: { latencyMs: 1, jitterMs: 5, cutChance: 0.05, bytesPerMs: 100000, timeoutMs: 60_000 },
      pipeBytes: 4096,
    },
  },
  {
    found:
      'Tools that were stopped for lack of credit were resumed only a few at a time, when credit came; if ' +
      'those few had nothing to say, no more credit came, and the rest was never read again.',
    options: {
      ...PLAIN,
      seed: 85,
      hosts: 4,
      slots: 2,
      apps: [
        { program: 'fork', args: ['sleep', '60'], count: 1 },
        { program: 'mixed', args: ['3000', '100'], count: 3 },
        { program: 'fork', args: ['--session', 'sleep', '60'], count: 2 },
      ],
      settings: {
        launcherproc: 'local',
        launcher: 'flat',
        'launcher.tree.arity': '3',
        errmgr: 'continue',
        'launcher.window': '1',
        'tool.grace': '500ms',
        'iof.window': '65536',
        'iof.drain': '0ms',
      },
      stdin: { to: 'rank', rank: 3 },
      stdinBytes: 100,
      faults: [
        { atMs: 15.354924715308861, kind: 'kill-agent', pick: 0.9115791050717235, signal: 'SIGKILL' },
        { atMs: 21.408876600976548, kind: 'pause-tool', pick: 0.6664180080406368, lastsMs: 1332.900298919063 },
        { atMs: 425.86109722524253, kind: 'kill-tool', pick: 0.5066029489971697, signal: 'SIGSEGV' },
      ],
      link: { latencyMs: 20, jitterMs: 0, cutChance: 0.05, bytesPerMs: Infinity, timeoutMs: 60_000 },
    },
  },
  {
    found:
      'With a root agent its subtree is lost; the first of these failures ended the job, and the others ' +
      'were reported after its end.',
    options: {
      ...PLAIN,
      seed: 13,
      hosts: 4,
      remote: true,
      slots: 2,
      apps: [
        { program: 'stderr', args: ['3', '72'], count: 5 },
        { program: 'stderr', args: ['300', '72'], count: 1 },
      ],
      settings: {
        launcherproc: 'remote',
        launcher: 'tree',
        'launcher.tree.arity': '3',
        errmgr: 'abort',
        'bootcom.boot': 'ws',
        'launcher.window': '1',
        'iof.window': '65536',
        'bootcom.frame.max': '65536',
      },
      stdin: { to: 'rank', rank: 0 },
      faults: [{ atMs: 13.991342945823401, kind: 'kill-agent', pick: 0.9080644708592445, signal: 'SIGKILL' }],
      link: { latencyMs: 20, jitterMs: 5, cutChance: 0, bytesPerMs: 5000, timeoutMs: 60_000 },
      spawnMs: [0.1, 30],
      pipeBytes: 4096,
    },
  },
  {
    found:
      'A connection to the listener that had not proved itself outlived the listener: its deadline was left ' +
      'after onStopped.',
    options: {
      ...PLAIN,
      seed: 1667,
      remote: true,
      slots: 5,
      apps: [{ program: 'exit', args: ['192', '0'], count: 5 }],
      byNode: true,
      settings: {
        launcherproc: 'remote',
        launcher: 'tree',
        'launcher.tree.arity': '3',
        errmgr: 'continue',
        'bootcom.boot': 'ws',
        'launcher.window': '32',
        'tool.grace': '0ms',
        'iof.window': '65536',
      },
      stdin: { to: 'all' },
      releaseMs: 0.1,
      timeoutMs: 1301,
      faults: [
        { atMs: 57.895507079832555, kind: 'kill-agent', pick: 0.9786261925473809, signal: 'SIGKILL' },
        { atMs: 89.89981269523551, kind: 'slow', pick: 0.8877800481859595, latencyMs: 215.59749379986897 },
      ],
      link: { latencyMs: 20, jitterMs: 5, cutChance: 0.05, bytesPerMs: 100000, timeoutMs: 60_000 },
      spawnMs: [5, 200],
    },
  },
  {
    found:
      'The simulation itself: data that was held up by a cut came behind data that was sent after the ' +
      'mending.',
    options: {
      ...PLAIN,
      seed: 553,
      hosts: 2,
      remote: true,
      slots: 3,
      apps: [
        { program: 'lines', args: ['1', '80'], count: 3 },
        { program: 'lines', args: ['300', '80', '0.005'], count: 3 },
      ],
      settings: {
        launcherproc: 'remote',
        launcher: 'tree',
        'launcher.tree.arity': '2',
        errmgr: 'abort',
        'launcher.window': '4',
        'tool.grace': '500ms',
      },
      stdin: { to: 'rank', rank: 1 },
      faults: [
        { atMs: 0.5291112802303471, kind: 'cut', pick: 0.4582305606454611, lastsMs: 1090.6307369440328 },
        { atMs: 24.45423972044729, kind: 'cut', pick: 0.8779928991571069, lastsMs: 340.03428740100935 },
        { atMs: 41.54540489288679, kind: 'cut', pick: 0.7012774373870343, lastsMs: 1147.488081080839 },
      ],
      link: { latencyMs: 0.1, jitterMs: 0, cutChance: 0.5, bytesPerMs: Infinity, timeoutMs: 60_000 },
      pipeBytes: 4096,
    },
  },
  {
    found:
      'With iof.drain=0 output that lay ready in the pipe of an ended rank was given up instead of read.',
    options: {
      ...PLAIN,
      seed: 637,
      hosts: 2,
      remote: true,
      slots: 2,
      apps: [{ program: 'lines-exit', args: ['900', '80', '0', '1'], count: 3 }],
      settings: {
        launcherproc: 'remote',
        launcher: 'tree',
        'launcher.tree.arity': '3',
        errmgr: 'continue',
        'launcher.session.method': 'thread',
        'launcher.window': '1',
        'tool.grace': '500ms',
        'iof.window': '65536',
        'iof.drain': '0ms',
        'bootcom.frame.max': '65536',
      },
      stdin: { to: 'rank', rank: 1 },
      launchTimeoutMs: 175,
      link: { latencyMs: 0.1, jitterMs: 0, cutChance: 0.5, bytesPerMs: 100000, timeoutMs: 60_000 },
      clockSkewMs: 500,
    },
  },
  {
    found:
      'An agent that was stopped for longer than iof.drain gave up the ready output of its ranks when it ' +
      'went on.',
    options: {
      ...PLAIN,
      seed: 823,
      hosts: 3,
      slots: 2,
      apps: [
        { program: 'mixed', args: ['3000', '40'], count: 3 },
        { program: 'fork', args: ['--wait', '1', 'lines', '1000', '80', '0.002'], count: 2 },
      ],
      settings: {
        launcherproc: 'local',
        launcher: 'flat',
        'launcher.tree.arity': '2',
        errmgr: 'abort',
        'launcher.root.method': 'thread',
        'launcher.window': '32',
        'tool.grace': '500ms',
        'iof.window': '65536',
        'iof.drain': '0ms',
      },
      stdinBytes: 1,
      releaseMs: 300,
      faults: [
        { atMs: 17.44928204395893, kind: 'pause-agent', pick: 0.21043700561858714, lastsMs: 1223.794758028118 },
        { atMs: 155.0787294150911, kind: 'pause-agent', pick: 0.5500208819285035, lastsMs: 369.62482192669995 },
        { atMs: 266.3817660868029, kind: 'pause-agent', pick: 0.487424832303077, lastsMs: 2.662138059269637 },
      ],
      link: { latencyMs: 0.02, jitterMs: 0, cutChance: 0.5, bytesPerMs: Infinity, timeoutMs: 60_000 },
      clockSkewMs: 500,
    },
  },
  {
    found:
      'The second interrupt reported the cause of the first again.',
    options: {
      ...PLAIN,
      seed: 13,
      hosts: 4,
      remote: true,
      slots: 3,
      apps: [
        { program: 'stderr', args: ['3', '72'], count: 10 },
        { program: 'ignore-term', args: ['2.5'], count: 2 },
      ],
      settings: {
        launcherproc: 'remote',
        launcher: 'tree',
        'launcher.tree.arity': '2',
        errmgr: 'abort',
        'launcher.session.method': 'thread',
        'launcher.window': '32',
        'tool.grace': '50ms',
        'iof.window': '262144',
        'iof.drain': '20ms',
      },
      faults: [
        { atMs: 10.729420591741032, kind: 'slow', pick: 0.9080644708592445, latencyMs: 205.3817902551964 },
        { atMs: 275.84708101671686, kind: 'slow', pick: 0.0027455741073936224, latencyMs: 494.46544972714037 },
      ],
      controls: [
        { atMs: 991.638022171341, kind: 'interrupt', kill: false },
        { atMs: 1082.545181898408, kind: 'interrupt', kill: true },
      ],
      link: { latencyMs: 20, jitterMs: 5, cutChance: 0.05, bytesPerMs: Infinity, timeoutMs: 60_000 },
      spawnMs: [0.1, 30],
    },
  },
  {
    found:
      'The simulation itself: its guardian looked once, and a process that forked while it was being killed left a ' +
      'child behind.',
    options: {
      ...PLAIN,
      seed: 10555,
      hosts: 3,
      slots: 3,
      apps: [{ program: 'fork', args: ['sleep', '60'], count: 8 }],
      byNode: true,
      settings: {
        launcherproc: 'local',
        'launcher.tree.arity': '3',
        'launcher.root.method': 'thread',
        'launcher.window': '4',
        'iof.window': '1048576',
      },
      stdin: { to: 'rank', rank: 0 },
      stdinBytes: 5000,
      releaseMs: 0.1,
      faults: [{ atMs: 2.1218738838691755, kind: 'kill-front-end' }],
      link: { latencyMs: 0.02, jitterMs: 0.05, cutChance: 0.05, bytesPerMs: 100000, timeoutMs: 60_000 },
    },
  },
  {
    found:
      'A host that crashed after its ranks had ended, before it said that nothing is left of them, was waited for ' +
      'without end. The lease of its link finds it now.',
    options: {
      ...PLAIN,
      seed: 32246,
      hosts: 4,
      remote: true,
      slots: 2,
      apps: [
        { program: 'true', args: [], count: 3 },
        { program: 'fork', args: ['--wait', '1', '--session', 'lines', '1000', '80', '0.002'], count: 3 },
      ],
      byNode: true,
      settings: {
        launcherproc: 'remote',
        'bootcom.boot': 'ws',
        'launcher.window': '1',
        'tool.grace': '50ms',
        'iof.window': '1048576',
        'event.turn.max': '1024',
      },
      stdinBytes: 1,
      releaseMs: 1,
      timeoutMs: 2716,
      faults: [{ atMs: 30.542508106466517, kind: 'crash-host', pick: 0.35904196579940617 }],
      controls: [{ atMs: 16.168506200443325, kind: 'interrupt', kill: false }],
      link: { latencyMs: 0.02, jitterMs: 0.05, cutChance: 0, bytesPerMs: 100000, timeoutMs: 60_000 },
    },
  },
  {
    found:
      'An agent was told its neighbours after its overlay had closed, and waited for one of them to connect: a timer ' +
      'was left at the end.',
    options: {
      ...PLAIN,
      seed: 259220270,
      hosts: 2,
      slots: 3,
      apps: [{ program: 'read-one-line-and-exit', args: [], count: 5 }],
      byNode: true,
      settings: {
        launcherproc: 'local',
        launcher: 'tree',
        'launcher.tree.arity': '2',
        errmgr: 'continue',
        'launcher.root.method': 'inline',
        'launcher.session.method': 'thread',
        'bootcom.boot': 'native',
        'launcher.window': '32',
        'tool.grace': '50ms',
        'overlay.topology': 'bmg',
        'overlay.open': 'eager',
        'overlay.queue': '1',
      },
      releaseMs: 1,
      timeoutMs: 1142,
      faults: [{ atMs: 206.61852400386869, kind: 'pause-agent', pick: 0.8824013727717102, lastsMs: 109.6 }],
      link: { latencyMs: 20, jitterMs: 5, cutChance: 0, bytesPerMs: 5000, timeoutMs: 5000 },
      spawnMs: [5, 200],
      pipeBytes: 4096,
    },
  },
  ...SILENCE_REGRESSIONS,
  ...START_REGRESSIONS,
  ...RESTART_REGRESSIONS,
  ...OVER_REGRESSIONS,
];
