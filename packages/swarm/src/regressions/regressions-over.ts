/** Runs that failed once, as in regressions.ts: jobs that were over too early, or after which something was left. */

import { PLAIN, type Regression } from '../scenarios/plain.js';

const REMOTE = { launcherproc: 'remote', 'launcher.tree.arity': '1', 'launcher.root.method': 'process' };

/** The first link of a chain is killed while it carries the output of both ranks. */
const killed = (atMs: number): Regression['options'] => ({
  ...PLAIN,
  hosts: 2,
  remote: true,
  apps: [{ program: 'mixed', args: ['20000', '100'], count: 2 }],
  settings: { ...REMOTE, errmgr: 'continue' },
  faults: [{ atMs, kind: 'kill-agent', pick: 0, signal: 'SIGKILL' }],
  link: { ...PLAIN.link, latencyMs: 1, bytesPerMs: 5000 },
});

export const OVER_REGRESSIONS: readonly Regression[] = [
  ...[120, 240].map((atMs) => ({
    found:
      'A host was linked again before anything had been heard of its session agent, which was not asked then whether '
      + 'it had sent again what might be lost: its reports overtook its output, and the job was over without that '
      + `(after ${atMs} ms).`,
    options: killed(atMs),
  })),
  {
    found: 'An overlay link over a slow line was still saying goodbye when the session was over, and kept its lease.',
    options: {
      ...PLAIN,
      hosts: 2,
      remote: true,
      apps: [{ program: 'sleep', args: ['0.3'], count: 2 }],
      settings: { ...REMOTE, 'overlay.topology': 'bmg', 'overlay.open': 'eager', 'bootcom.ws.interface': 'eth0' },
      faults: [{ atMs: 250, kind: 'slow', pick: 0.775, latencyMs: 200 }],
      link: { ...PLAIN.link, latencyMs: 1 },
    },
  },
  {
    found: 'What an agent said of a dead one after the session had been ended was still to be asked about.',
    options: {
      ...PLAIN,
      seed: 57,
      hosts: 7,
      remote: true,
      slots: 15,
      apps: [{ program: 'ignore-term', args: ['2.5'], count: 3 }],
      settings: {
        'launcher.session.method': 'thread', 'overlay.topology': 'bmg', 'bootcom.ws.interface': 'eth0',
      },
      faults: [{ atMs: 255.56151145893483, kind: 'cut-host', pick: 0.3903304177802056, lastsMs: 8046.53533182526 }],
      link: { ...PLAIN.link, latencyMs: 1 },
    },
  },
  {
    found: 'What a detector sends waited for an overlay link when the session, and with it the overlay, was over.',
    options: {
      ...PLAIN,
      seed: 17205,
      hosts: 2,
      remote: true,
      slots: 5,
      apps: [
        { program: 'count-input', args: [], count: 1 }, { program: 'lines', args: ['20', '60', '0.001'], count: 4 },
        { program: 'lines', args: ['300', '80', '0.005'], count: 4 },
      ],
      byNode: true,
      settings: {
        launcherproc: 'together', 'launcher.tree.arity': '2', errmgr: 'abort', 'launcher.root.method': 'process',
        'launcher.window': '4', 'event.turn.max': '4', 'bootcom.frame.max': '65536', 'overlay.topology': 'bmg',
        'overlay.open': 'lazy', 'overlay.queue': '1', 'bootcom.ws.interface': 'eth0',
      },
      timeoutMs: 41,
      faults: [
        { atMs: 0, kind: 'kill-start', pick: 0.09641164029017091, start: 1, afterMs: 43.605198091259126 },
        { atMs: 39.86443968055914, kind: 'pause-tool', pick: 0.11194296414032578, lastsMs: 534.2793676981237 },
      ],
      link: { latencyMs: 1, jitterMs: 5, cutChance: 0, bytesPerMs: 100_000, timeoutMs: 5000 },
      pipeBytes: 4096,
    },
  },
  {
    found: 'The connection to the only host of a job ended, and the job with it: its agent was not linked again.',
    options: {
      ...PLAIN,
      remote: true,
      apps: [{ program: 'sleep', args: ['1'], count: 1 }],
      settings: REMOTE,
      faults: [{ atMs: 386, kind: 'kill-agent', pick: 0, signal: 'SIGTERM' }],
    },
  },
  {
    found: 'The checker: an agent that was cut off before it had its boot record knows no lease, and waits longer.',
    options: {
      ...PLAIN,
      remote: true,
      apps: [{ program: 'sleep', args: ['2'], count: 1 }],
      settings: { ...REMOTE, 'bootcom.lease': '4s' },
      launchTimeoutMs: 57,
      faults: [{ atMs: 3, kind: 'cut-host', pick: 0 }],
      link: { ...PLAIN.link, latencyMs: 1, jitterMs: 5 },
    },
  },
  {
    found:
      'The simulation awaited the output of a silent host though the time of the job (--timeout) was over long ago: it '
      + 'was ending for another reason by then (seed 280200803).',
    options: {
      ...PLAIN, hosts: 2, slots: 2, remote: true, timeoutMs: 1181, settings: { launcherproc: 'remote' },
      apps: [
        { program: 'fork', args: ['--session', 'sleep'], count: 2 },
        { program: 'lines', args: ['2', '0', '0.005'], count: 1 },
      ],
      faults: [
        { atMs: 10.234256844218066, kind: 'pause-tool', pick: 0.889109545154497, lastsMs: 1144.0078564702999 },
        { atMs: 33.212265833938694, kind: 'kill-tool', pick: 0.605693778488785, signal: 'SIGTERM' },
        { atMs: 98.96103664082726, kind: 'crash-host', pick: 0.09294648352079093 },
        { atMs: 177.55368723523273, kind: 'kill-tool', pick: 0.02531181089580059, signal: 'SIGTERM' },
      ],
      link: { ...PLAIN.link, latencyMs: 0.1, cutChance: 0.05 },
    },
  },
  {
    found:
      'A message waited for frames of its source that had been served, as another came before it was looked at, and '
      + 'that frame for the message: nothing more was served, and the job never ended (seed 280500019).',
    options: {
      ...PLAIN, seed: 280_500_019, hosts: 4, slots: 3, stdin: { to: 'all' },
      apps: [{ program: 'no-such-program', args: [], count: 12 }],
      settings: {
        launcherproc: 'local', 'launcher.tree.arity': '1', 'bootcom.boot': 'ws', 'event.turn.max': '1',
      },
    },
  },
  {
    found:
      'An agent that had come up over ssh and was cut off before its boot record was counted as one that never ends: '
      + 'it waits for the record, longer than its starter, whatever started it (seed 217493681).',
    options: {
      ...PLAIN, seed: 217_493_681, hosts: 4, remote: true, apps: [{ program: 'hostname', args: [], count: 1 }],
      settings: { launcherproc: 'ssh', 'launcher.tree.arity': '3', 'bootcom.lease': '4s' },
      faults: [{ atMs: 22, kind: 'crash-host', pick: 0.2 }],
      link: { ...PLAIN.link, latencyMs: 0.1, jitterMs: 5 },
    },
  },
  {
    found:
      'A deadline of a handshake (launcher.handshake) that the round trips over a slow link do not fit in was taken '
      + 'for a loss without a cause (seed 340042284).',
    options: {
      ...PLAIN, hosts: 2, remote: true, apps: [{ program: 'count-input', args: [], count: 1 }],
      settings: { launcherproc: 'together', 'bootcom.boot': 'ws', 'launcher.handshake': '500ms' },
      faults: [{ atMs: 0, kind: 'slow', pick: 0, latencyMs: 84 }],
    },
  },
  {
    found:
      'An agent that had lost the controller asked its parent, whose answer over a slow link came after the time of a '
      + 'probe: it was counted as one that never ends while it waited for another, for its lease (seed 640001568).',
    options: {
      ...PLAIN, hosts: 3, remote: true, apps: [{ program: 'sleep', args: ['2'], count: 3 }],
      settings: { ...REMOTE, 'overlay.topology': 'bmg', 'overlay.open': 'eager', 'bootcom.ws.interface': 'eth0' },
      faults: [{ atMs: 646, kind: 'kill-front-end' }, { atMs: 650, kind: 'slow', pick: 0.4, latencyMs: 340 }],
      link: { ...PLAIN.link, latencyMs: 0.1 },
    },
  },
];
