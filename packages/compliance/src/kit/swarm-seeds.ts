/**
 * How many seeds each commit explores: from its own first one (STCI_SWARM_FROM, which CI draws from the commit's hash),
 * so that none of them was run before. Cases without a seed, regressions and replays are not counted.
 */

interface Share {
  /** In each run of the tests, and with STCI_SWARM_FULL=1. */
  readonly seeds: number;
  readonly full: number;
  /** Test files that explore as many; default: one. */
  readonly files?: number;
}

const SHARES = {
  // Whole sessions and jobs, of the shipped code.
  'small sessions with failures': { seeds: 60, full: 100_000 },
  'sessions with failures': { seeds: 20, full: 5000 },
  'sessions with front-ends': { seeds: 8, full: 200 },
  'sessions whose hosts change': { seeds: 12, full: 400 },
  'sessions with link faults': { seeds: 30, full: 2000 },
  'sessions with injections': { seeds: 40, full: 3000 },
  experiments: { seeds: 40, full: 5000 },
  jobs: { seeds: 120, full: 3000 },
  'jobs that agree': { seeds: 120, full: 3000 },
  'jobs over ssh': { seeds: 15, full: 150 },
  'jobs with restarts': { seeds: 300, full: 5000 },
  // The shipped machines of detectors and notifiers on models of a network.
  detectors: { seeds: 8500, full: 40_000 },
  'notifiers, agents that are dead': { seeds: 1100, full: 10_000, files: 5 },
  'notifiers, agents that die': { seeds: 1100, full: 10_000, files: 5 },
} satisfies Readonly<Record<string, Share>>;

export const isFullSwarm = process.env['STCI_SWARM_FULL'] === '1';

export function swarmSeeds(what: keyof typeof SHARES): number {
  return isFullSwarm ? SHARES[what].full : SHARES[what].seeds;
}

/** All that one run of the tests explores. */
export function swarmTotal(): number {
  return Object.values<Share>(SHARES).reduce((sum, { seeds, full, files = 1 }) =>
    sum + (isFullSwarm ? full : seeds) * files, 0);
}
