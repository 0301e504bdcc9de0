/** Runs that failed once, as in regressions.ts: jobs that were over too early, or after which something was left. */

import { PLAIN, type Regression } from './plain.js';

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
];
