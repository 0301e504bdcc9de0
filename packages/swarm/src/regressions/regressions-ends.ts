/** Runs with failures after which a job did not end, though all its ranks were over, and what each found. */

import { plainFailures, type FailureRegression } from './regressions-failures.js';

export const END_REGRESSIONS: readonly FailureRegression[] = [
  {
    found: 'a starved controller asked for a link to an agent again before the first answer had come: the agent closed '
      + 'one of both, which was taken for its loss; found linked after all, it was to say that it had sent again what '
      + 'might be lost, and did not',
    plan: plainFailures({
      seed: 6, hosts: 8, brief: { lastsMs: 2500, policy: 'continue' },
      faults: [
        { kind: 'kill', host: 0, atMs: 700 }, { kind: 'freeze', host: 'login', atMs: 1000, lastsMs: 1200 },
      ],
      settings: { 'launcher.tree.arity': '3' },
      link: { latencyMs: 60, jitterMs: 10, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
    }),
    linksMax: 1,
  },
  {
    found: 'agents below one that was killed said that they had sent again what might be lost before the controller '
      + 'knew that they were linked again: the answer of their new parent went by a slow link of the overlay',
    plan: plainFailures({
      hosts: 5, brief: { lastsMs: 2500, policy: 'continue' },
      faults: [
        { kind: 'slow', between: [1, 'login'], latencyMs: 60, atMs: 500, lastsMs: 5000 },
        { kind: 'kill', host: 2, atMs: 700 },
      ],
      settings: {
        'launcher.tree.arity': '1', 'overlay.topology': 'bmg', 'overlay.open': 'eager', 'bootcom.ws.interface': 'eth0',
      },
    }),
  },
];
