/** Experiments for tests, without a file. */

import type { Experiment, FaultEntry, Filter, TargetShape, When } from '@stci/finject/experiment';

export const START = { on: 'event', event: 'start', nth: 1, fault: undefined } as const;

export const FILTER: Filter = {
  choice: { pick: 'random', count: 1 }, on: 'all', depth: undefined, not: [], sameHostAs: undefined, notOf: [],
};

export function fixed(valueMs: number): When['delay'] {
  return { type: 'fixed', valueMs };
}

export function makeFault(name: string, fields: Partial<FaultEntry> = {}): FaultEntry {
  return {
    name, kind: 'noop', args: {}, count: 1, coolDownMs: 0, durationMs: undefined, timeoutMs: 10_000, parts: [],
    who: { of: 'ranks', ranks: 'all', ...FILTER },
    when: { after: START, delay: fixed(1000), every: fixed(1000) },
    place: { file: 'test.yaml', line: 1, column: 1 },
    ...fields,
  };
}

export function makeExperiment(faults: readonly FaultEntry[], fields: Partial<Experiment> = {}): Experiment {
  return {
    name: 'test', description: '',
    target: { options: [], program: ['./solver'], session: undefined, simulated: undefined },
    hosts: [], repeats: 1, seed: 7, warmUpMs: 0, timeLimitMs: 60_000, faults, checks: [],
    stop: { failuresMax: 0, timeMs: undefined }, outputs: { directory: undefined, outputBytesMax: 1000 },
    keepAlive: { ranks: [], hosts: [] }, allow: [], victimsMax: 100, configurations: [], ...fields,
  };
}

/** Hosts h0, h1, …, ranks in turn. */
export function makeShape(hosts: number, ranks: number, arity = 2): TargetShape {
  return {
    hosts: Array.from({ length: hosts }, (_, host) => `h${host}`),
    hostOfRank: Array.from({ length: ranks }, (_, rank) => rank % hosts),
    arity,
  };
}
