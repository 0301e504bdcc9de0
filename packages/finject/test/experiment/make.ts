/** Experiments for tests, with and without a file. */

import { parseExperiment } from '@stci/finject/experiment';
import type {
  Experiment, ExperimentFile, FaultEntry, Filter, Problem, ReadContext, TargetShape, When,
} from '@stci/finject/experiment';
import { StciError, type FaultModule } from '@stci/interface';

export const START = { on: 'event', event: 'start', nth: 1, fault: undefined } as const;

export const FILTER: Filter = {
  choice: { pick: 'random', count: 1 }, on: 'all', depth: undefined, not: [], sameHostAs: undefined, notOf: [],
};

export function fixed(valueMs: number): When['delay'] {
  return { type: 'fixed', valueMs };
}

export function makeFault(name: string, fields: Partial<FaultEntry> = {}): FaultEntry {
  return {
    name, kind: 'noop', args: {}, count: 1, coolDownMs: 0, durationMs: undefined, timeoutMs: 10_000,
    impact: 'disturbs', parts: [],
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

const noMachine = (): never => { throw new Error('no machine in tests of the file'); };

function makeKind(victims: FaultModule['victims'], undoes: boolean, args: FaultModule['args'] = {}): FaultModule {
  return { victims, undoes, args, problemOf: () => undefined, plan: noMachine, open: noMachine };
}

const SIGNAL = { type: 'enum', default: 'SIGKILL', values: ['SIGKILL', 'SIGTERM'], help: '' } as const;
const STATUS = { type: 'int', default: 1, min: 0, max: 255, help: '' } as const;
const DELAY = { type: 'duration', default: 0, help: '' } as const;

export const KINDS = new Map<string, FaultModule>([
  ['noop', makeKind(['rank', 'agent', 'host', 'link', 'partition'], false)],
  ['pkill', makeKind(['rank'], false, { signal: SIGNAL, only: { type: 'list', default: [], help: '' } })],
  ['pause', makeKind(['rank', 'agent', 'host'], true)],
  ['link', makeKind(['link'], true, { delay: DELAY })],
  ['exit', { ...makeKind(['rank'], false, { status: STATUS }),
    problemOf: ({ args }) => (args['status'] === 77 ? 'status 77 is reserved' : undefined) }],
]);

export const CONTEXT: ReadContext = {
  kinds: KINDS,
  splitTarget: (words) => {
    const at = words.findIndex((word) => word.startsWith('./'));
    if (at < 0) throw new StciError('STCI_USAGE', 'No program.');
    return { options: words.slice(0, at), program: words.slice(at) };
  },
  readTrace: (path) => {
    if (path !== 'times.txt') throw new StciError('STCI_EXPERIMENT_INVALID', 'it does not exist.');
    return '# seconds\n10\n  20.5 # half\n\n3s\n';
  },
};

/** Name and target, then these lines. */
export function fileOf(lines: string): string {
  return `name: test\ntarget: stcirun -n 8 ./solver\n${lines}`;
}

export function read(text: string): ExperimentFile {
  return parseExperiment(text, 'test.yaml', CONTEXT);
}

/** `line:column: text` each. */
export function texts(problems: readonly Problem[]): string[] {
  return problems.map(({ place, text }) => `${place.line}:${place.column}: ${text}`);
}
