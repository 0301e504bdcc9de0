/**
 * An experiment file, read: its form by the schema, the meaning of its values here. All problems are told at once, each
 * with line and column. What depends on the target's hosts and ranks is checked by check.ts.
 */

import { parseValue } from '@stci/core';
import { StciError } from '@stci/interface';
import type {
  Check, Configuration, Experiment, ExperimentFile, FaultEntry, ReadContext, SourcePlace, Target,
} from './contracts.js';
import { readChecks } from './read-checks.js';
import { readFaults } from './read-faults.js';
import { Cursor, type FoundProblem } from './reader.js';
import { VICTIMS_DEFAULT } from './schema.js';
import { shown } from './show.js';
import { formProblems, PROBLEMS_MAX, sizeProblems, type FormProblem } from './structure.js';
import { loadFile, withKeys, type LoadedFile, type Path } from './yaml-file.js';

const TIME_LIMIT_MS = 300_000;
const OUTPUT_BYTES = 1_048_576;
const SIZE = { type: 'size', default: OUTPUT_BYTES, help: '', max: 2 ** 40 } as const;
const ALLOWED = ['controller', 'front-end'] as const;

/** `file`: as messages are to name it. Never throws for what a file holds. */
export function parseExperiment(text: string, file: string, context: ReadContext): ExperimentFile {
  const written = loadFile(text, file);
  const place: ExperimentFile['place'] = (...path) => written.place(path);
  if (written.problems.length > 0) return { experiment: undefined, problems: written.problems, place };
  const sizes = sizeProblems(written).map(({ path, text }) => ({ place: written.placeOfKey(path), text }));
  if (sizes.length > 0) return { experiment: undefined, problems: sizes, place };
  const { loaded, form } = readForm(written);
  const found: FoundProblem[] = [];
  const root = new Cursor({ loaded, problems: found }, [], loaded.root);
  const read = root.isObject ? readRoot(root, context) : undefined;
  const known = new Set(found.map(({ path }) => JSON.stringify(path)));
  const all = [...found, ...form.filter(({ isOfText, path }) => !isOfText || !known.has(JSON.stringify(path)))];
  const problems = all.sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column)
    .map((one) => ({ place: one.place, text: one.text }));
  // Which parts of the file are right is not known then.
  if (all.length >= PROBLEMS_MAX) return { experiment: undefined, problems, place };
  return { experiment: read?.(all.map(({ path }) => path)), problems, place };
}

type PlacedProblem = FormProblem & { readonly place: SourcePlace };

/** What is wrong with the form, also below keys that are misspelt: the file as it was meant is read on. */
function readForm(written: LoadedFile): { readonly loaded: LoadedFile; readonly form: readonly PlacedProblem[] } {
  const ofKeys: PlacedProblem[] = [];
  for (let loaded = written; ; ) {
    const problems = formProblems(loaded).map((problem) =>
      ({ ...problem, place: problem.isOfKey ? loaded.placeOfKey(problem.path) : loaded.place(problem.path) }));
    const mends = problems.flatMap(({ path, meant }) => (meant === undefined ? [] : [{ path, meant }]));
    // Each of them has one misspelt key less: keys that were meant are known.
    if (mends.length === 0 || ofKeys.length > PROBLEMS_MAX) return { loaded, form: [...ofKeys, ...problems] };
    ofKeys.push(...problems.filter(({ meant }) => meant !== undefined));
    loaded = withKeys(loaded, mends);
  }
}

type Complete = (wrong: readonly Path[]) => Experiment | undefined;

function isWithin(path: Path, above: Path): boolean {
  return above.every((step, at) => path[at] === step);
}

function readRoot(root: Cursor, context: ReadContext): Complete {
  const target = readTarget(root.get('target'), context);
  const hosts = readHosts(root.get('hosts')) ?? [];
  const configurations = root.get('configurations').keys();
  const { entries } = readFaults(root.get('faults'), context, configurations);
  const checks = readChecks(root.get('checks'));
  const rest = readRest(root);
  return (wrong) => {
    const isRight = ({ path }: Cursor): boolean => !wrong.some((one) => isWithin(one, path));
    const right = <One>(at: Cursor, one: One | undefined): One[] => (one !== undefined && isRight(at) ? [one] : []);
    if (target === undefined || !isRight(root.get('target')) || !isRight(root.get('hosts'))) return undefined;
    const faults = entries.flatMap(({ at, entry }): FaultEntry[] => right(at, entry));
    const rightChecks = checks.flatMap(({ at, check }): Check[] => right(at, check));
    return { ...rest, target, hosts, faults, checks: rightChecks };
  };
}

type Rest = Omit<Experiment, 'target' | 'hosts' | 'faults' | 'checks'>;

function readRest(root: Cursor): Rest {
  const [stop, outputs, keep] = [root.get('stop'), root.get('outputs'), root.get('keep-alive')];
  return {
    name: root.get('name').string() ?? '',
    description: root.get('description').string() ?? '',
    repeats: root.get('repeats').integer() ?? 1,
    seed: root.get('seed').integer() ?? 1,
    warmUpMs: root.get('warm-up').durationMs() ?? 0,
    timeLimitMs: root.get('time-limit').durationMs(1) ?? TIME_LIMIT_MS,
    stop: { failuresMax: stop.get('failures').integer() ?? 0, timeMs: stop.get('after').durationMs(1) },
    outputs: { directory: outputs.get('directory').string(), outputBytesMax: readSize(outputs.get('target-output')) },
    keepAlive: { ranks: keep.get('ranks').numbers() ?? [], hosts: keep.get('hosts').hostRefs() ?? [] },
    allow: readAllow(root.get('allow')),
    victimsMax: root.get('victims-max').integer() ?? VICTIMS_DEFAULT,
    configurations: readConfigurations(root.get('configurations')),
  };
}

function readSize(at: Cursor): number {
  const text = at.text();
  if (text === undefined) return OUTPUT_BYTES;
  const parsed = parseValue(SIZE, text);
  return Number((parsed.ok ? parsed.value : at.take(parsed)) ?? OUTPUT_BYTES);
}

function readAllow(at: Cursor): Experiment['allow'] {
  return at.names().flatMap((item) => {
    const role = ALLOWED.find((known) => known === item.value);
    if (role !== undefined) return [role];
    item.problem(`${shown(item.value)} is not what is expected: ${ALLOWED.join(' or ')}.`);
    return [];
  });
}

function readTarget(at: Cursor, context: ReadContext): Target | undefined {
  const none = { session: undefined, simulated: undefined };
  if (at.isObject) return readTargetObject(at);
  const words = at.words();
  if (words === undefined) return undefined;
  if (words[0] !== 'stcirun') {
    return at.problem(`${shown(words[0] ?? '')} is not what is expected: a command line of stcirun, such as `
      + 'stcirun -n 8 ./solver.');
  }
  try {
    const { options, program } = context.splitTarget(words.slice(1));
    if (program.length > 0) return { options, program, ...none };
    return at.problem('it has no program. Expected stcirun, its options, the program and its arguments.');
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    return at.problem(thrown.message);
  }
}

function readTargetObject(at: Cursor): Target | undefined {
  const program = at.get('program').words() ?? [];
  if (program.length === 0 || program[0] === '') {
    return at.problem('it has no program. Add it, such as program: ./solver --steps 100.');
  }
  const simulated = at.get('simulated');
  return {
    options: at.get('options').words() ?? [],
    program,
    session: at.get('session').string(),
    simulated: simulated.isAbsent ? undefined : simulated.words(),
  };
}

/** Hosts with the slots that a list gives: `n1:4`. */
function readHosts(at: Cursor): string[] | undefined {
  if (at.isAbsent) return undefined;
  const lists = Array.isArray(at.value) ? at.items() : [at];
  const names = new Set<string>();
  return lists.flatMap((list) => (list.string() === undefined ? [] : list.hostItems() ?? []).map((item) => {
    const name = item.name.includes(':') ? `[${item.name}]` : item.name;
    if (names.has(name)) list.problem(`host ${shown(item.name)} is given twice. Give it once.`);
    names.add(name);
    const user = item.user === undefined ? '' : `${item.user}@`;
    return `${user}${name}${item.slots === undefined ? '' : `:${item.slots}`}`;
  }));
}

function readConfigurations(at: Cursor): Configuration[] {
  return at.keys().map((name) => {
    const value = at.get(name);
    const options = (value.isObject ? value.get('options') : value).words() ?? [];
    const hosts = value.isObject ? readHosts(value.get('hosts')) : undefined;
    const program = value.isObject ? value.get('program').words() : undefined;
    return { name, options, ...(hosts !== undefined && { hosts }), ...(program !== undefined && { program }) };
  });
}
