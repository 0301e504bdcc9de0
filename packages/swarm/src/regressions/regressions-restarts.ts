/** Runs that failed once, as in regressions.ts: ranks that are started again. */

import type { SwarmOptions } from '../scenarios/options.js';
import { PLAIN, type Regression } from '../scenarios/plain.js';

const BASE: SwarmOptions = { ...PLAIN, remote: true, byNode: true };
const SETTINGS = {
  launcherproc: 'remote', errmgr: 'restart', 'bootcom.lease': '2s', 'errmgr.loss': 'start-again',
  'errmgr.loss.pause': '50ms',
};

export const RESTART_REGRESSIONS: readonly Regression[] = [
  {
    found:
      "The output of a cut attempt and of the next one look alike; the checker took the last attempt's for that of " +
      'one whose agent was lost.',
    options: {
      ...BASE, seed: 103, hosts: 4, slots: 1,
      apps: [
        { program: 'lines', args: ['40', '80', '0.02'], count: 1 },
        { program: 'lines-exit', args: ['30', '80', '0.01', '2'], count: 2 },
      ],
      settings: {
        ...SETTINGS,
        'launcher.tree.arity': '2',
        'errmgr.restart.retries': '3',
        'errmgr.restart.pause': '400ms',
        'errmgr.restart.then': 'abort',
        'launcher.session.method': 'inline',
      },
      faults: [
        { kind: 'crash-host', atMs: 153, pick: 0.2460063339676708 },
        { kind: 'kill-tool', atMs: 522, pick: 0.447433301480487, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 913, pick: 0.6540267725940794, signal: 'SIGKILL' },
        { kind: 'crash-host', atMs: 1742, pick: 0.8456567020621151 },
      ],
    },
  },
  {
    found:
      'A session agent that was being started when its host was linked again was awaited as if it had output on its ' +
      'way: the job did not end.',
    options: {
      ...BASE, seed: 100023, hosts: 4, slots: 1,
      apps: [
        { program: 'lines', args: ['40', '80', '0.02'], count: 2 },
        { program: 'exit', args: ['3', '0.1'], count: 1 },
      ],
      settings: {
        ...SETTINGS,
        'launcher.tree.arity': '1',
        'errmgr.restart.retries': '3',
        'errmgr.restart.pause': '20ms',
        'errmgr.restart.then': 'continue',
        'launcher.session.method': 'process',
      },
      faults: [
        { kind: 'kill-agent', atMs: 112, pick: 0.6106786651071161, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 533, pick: 0.972908484051004, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 610, pick: 0.19736553193069994, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 1268, pick: 0.8828260258305818, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 1446, pick: 0.9169930485077202, signal: 'SIGKILL' },
      ],
    },
  },
  {
    found:
      'Ranks of two lost hosts had no room: the first failure ended the job, which gave up the ranks of the other, ' +
      'and those were given up once more.',
    options: {
      ...BASE, seed: 101000, hosts: 3, slots: 1, byNode: false,
      apps: [
        { program: 'lines', args: ['40', '80', '0.02'], count: 1 },
        { program: 'sleep', args: ['1'], count: 2 },
      ],
      settings: {
        ...SETTINGS,
        'launcher.tree.arity': '8',
        'errmgr.restart.retries': '1',
        'errmgr.restart.pause': '20ms',
        'errmgr.restart.then': 'abort',
        'launcher.session.method': 'inline',
      },
      faults: [
        { kind: 'crash-host', atMs: 477, pick: 0.9433746444992721 },
        { kind: 'crash-host', atMs: 621, pick: 0.36534448829479516 },
        { kind: 'crash-host', atMs: 1194, pick: 0.18965356471017003 },
      ],
    },
  },
  {
    found:
      'A session agent that was cut off started a rank again three times, which nobody counted when it was lost.',
    options: {
      ...BASE, seed: 200147, hosts: 5, slots: 1,
      apps: [
        { program: 'lines', args: ['40', '80', '0.02'], count: 3 },
        { program: 'exit', args: ['3', '0.1'], count: 1 },
      ],
      settings: {
        ...SETTINGS,
        'launcher.tree.arity': '1',
        'errmgr.restart.retries': '3',
        'errmgr.restart.pause': '0',
        'errmgr.restart.then': 'abort',
        'launcher.session.method': 'process',
      },
      faults: [
        { kind: 'crash-host', atMs: 74, pick: 0.4678029327187687 },
        { kind: 'kill-agent', atMs: 1552, pick: 0.5898267535958439, signal: 'SIGKILL' },
        { kind: 'kill-tool', atMs: 1892, pick: 0.12345029111020267, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 1927, pick: 0.6438186941668391, signal: 'SIGKILL' },
      ],
    },
  },
  {
    found:
      'The agent above a dead one was lost and started again before anybody had looked at the dead one: its link was ' +
      'taken for that of the new agent, and it was never given up.',
    options: {
      ...BASE, seed: 200527, hosts: 2, slots: 3,
      apps: [
        { program: 'lines', args: ['40', '80', '0.02'], count: 3 },
        { program: 'sleep', args: ['1'], count: 2 },
      ],
      settings: {
        ...SETTINGS,
        'launcher.tree.arity': '1',
        'errmgr.restart.retries': '3',
        'errmgr.restart.pause': '400ms',
        'errmgr.restart.then': 'abort',
        'launcher.session.method': 'inline',
      },
      faults: [
        { kind: 'kill-agent', atMs: 272, pick: 0.5275271334685385, signal: 'SIGKILL' },
        { kind: 'crash-host', atMs: 290, pick: 0.5506705606821924 },
        { kind: 'kill-agent', atMs: 306, pick: 0.3447541524656117, signal: 'SIGKILL' },
        { kind: 'crash-host', atMs: 419, pick: 0.5546125809196383 },
        { kind: 'kill-tool', atMs: 533, pick: 0.040007295086979866, signal: 'SIGKILL' },
      ],
    },
  },
  {
    found: 'Ranks waited for their restart when the session ended: their timer was left.',
    options: {
      ...BASE, seed: 288490, hosts: 3, slots: 2,
      apps: [
        { program: 'lines', args: ['40', '80', '0.02'], count: 3 },
        { program: 'lines-exit', args: ['30', '80', '0.01', '2'], count: 2 },
      ],
      settings: {
        launcherproc: 'remote', errmgr: 'restart', 'bootcom.lease': '2s',
        'launcher.tree.arity': '1',
        'errmgr.restart.retries': '2',
        'errmgr.restart.pause': '20ms',
        'errmgr.restart.then': 'continue',
        'launcher.session.method': 'process',
      },
      faults: [
        { kind: 'kill-agent', atMs: 88, pick: 0.18317477591335773, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 141, pick: 0.8186383694410324, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 518, pick: 0.7903336645103991, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 695, pick: 0.9752450354862958, signal: 'SIGKILL' },
        { kind: 'kill-agent', atMs: 1906, pick: 0.17247122409753501, signal: 'SIGKILL' },
      ],
    },
  },
];
