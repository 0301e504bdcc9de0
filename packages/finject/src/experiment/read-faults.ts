/** The faults of a file: kinds with their arguments, wholes with their parts, names that mean other faults. */

import { didYouMean, expectedForm, nearest, parseValue } from '@stci/core';
import { durationProblem } from '@stci/core/component';
import type { FaultModule, ParamSpec, ParamValue } from '@stci/interface';
import type { FaultEntry, ReadContext, Who } from './contracts.js';
import { readWhen } from './read-when.js';
import { readWho } from './read-who.js';
import type { Cursor } from './reader.js';
import { shown, someOf } from './show.js';
import { WHOLES, isWhole, leavesOf } from './timing.js';
import { cycleFrom, onCycles } from './cycles.js';
import { dependencies } from './victims.js';

const TIMEOUT_MS = 10_000;
/** Wholes in wholes; with names of 64 characters an injection's name stays short enough to be sent. */
const DEPTH_MAX = 3;
const NOTHING_AT: Who = { of: 'nobody' };
const DEFAULT_AT_ONCE: FaultEntry['when'] = {
  after: { on: 'event', event: 'start', nth: 1, fault: undefined },
  delay: { type: 'fixed', valueMs: 0 },
  every: { type: 'fixed', valueMs: 0 },
};
/** What only a fault that is injected itself has. */
const LEAF_KEYS = ['args', 'who', 'duration', 'timeout'];

/** A fault as it was read; undefined where that could not be. */
export interface ReadFaults {
  readonly entries: readonly { readonly at: Cursor; readonly entry: FaultEntry | undefined }[];
}

/** `configurations`: names of the experiment's. */
export function readFaults(at: Cursor, context: ReadContext, configurations: readonly string[]): ReadFaults {
  const reader = new FaultsReader(at, context, configurations);
  const entries = at.items().map((item) => ({ at: item, entry: reader.entry(item, '', 1) }));
  checkCycles(entries);
  return { entries };
}

/** Name of an item, before it is read as a whole. */
function nameOfItem(item: Cursor): string | undefined {
  return item.get('name').string() ?? item.get('kind').string();
}

class FaultsReader {
  readonly #context: ReadContext;
  readonly #configurationNames: readonly string[];
  /** Full names of all faults that have victims, and of all with parts. */
  readonly #names = new Map<string, 'leaf' | 'whole'>();

  constructor(faults: Cursor, context: ReadContext, configurations: readonly string[]) {
    this.#context = context;
    this.#configurationNames = configurations;
    this.#collect(faults, '', 1);
  }

  #collect(list: Cursor, prefix: string, depth: number): void {
    for (const item of list.items()) {
      const own = nameOfItem(item);
      if (own === undefined) continue;
      const name = prefix + own;
      if (this.#names.has(name)) {
        item.problem(`two faults are called ${shown(name)}. Give each a name of its own: name: ${own}-2.`);
      }
      this.#names.set(name, item.get('parts').isAbsent ? 'leaf' : 'whole');
      if (depth < DEPTH_MAX) this.#collect(item.get('parts'), `${name}/`, depth + 1);
    }
  }

  entry(at: Cursor, prefix: string, depth: number): FaultEntry | undefined {
    const kind = at.get('kind').string();
    const own = nameOfItem(at);
    if (kind === undefined || own === undefined) return undefined;
    const name = prefix + own;
    const isAWhole = isWhole({ kind });
    const module = this.#context.kinds.get(kind);
    if (module === undefined && !isAWhole) this.#unknownKind(at.get('kind'), kind);
    const count = at.get('count').integer();
    const faultCalled = (other: string, where: Cursor): string | undefined => this.#nameOf(other, where, prefix);
    const faultNamed = (where: Cursor): string | undefined => {
      const other = where.string();
      return other === undefined ? undefined : faultCalled(other, where);
    };
    const isPart = depth > 1;
    const when = readWhen(at.get('when'), {
      readTrace: (path) => this.#context.readTrace(path), count, isPart, faultNamed, faultCalled,
    });
    const who = isAWhole ? NOTHING_AT : this.#who(at, name, faultNamed);
    if (module !== undefined && who !== undefined) checkVictims(at.get('who'), kind, module, who);
    const args = module === undefined ? {} : readArguments(at.get('args'), kind, module);
    const durationMs = at.get('duration').durationMs(1);
    if (module !== undefined) checkDuration(at, kind, module);
    return {
      name, kind, args,
      configurations: this.#configurations(at.get('configurations'), isPart),
      who: who ?? NOTHING_AT,
      when: when ?? DEFAULT_AT_ONCE,
      count: this.#count(at, count, when),
      coolDownMs: at.get('cool-down').durationMs() ?? 0,
      durationMs,
      timeoutMs: at.get('timeout').durationMs(1) ?? TIMEOUT_MS,
      impact: module === undefined ? 'none' : module.impactOf?.(args) ?? 'disturbs',
      parts: this.#parts(at, { name, kind, depth }),
      place: at.place,
      path: at.path,
    };
  }

  #configurations(at: Cursor, isPart: boolean): string[] | undefined {
    if (at.isAbsent) return undefined;
    if (isPart) at.problem('parts are injected where their whole is. Give it to the whole.');
    const known = this.#configurationNames;
    return at.names().map((item) => {
      const name = item.string() ?? '';
      const expected = known.length === 0 ? 'The experiment has none' : `Expected one of ${known.join(', ')}`;
      if (!known.includes(name)) {
        item.problem(`there is no configuration ${shown(name)}.${didYouMean(name, known)} ${expected}.`);
      }
      return name;
    });
  }

  #who(at: Cursor, name: string, faultNamed: (at: Cursor) => string | undefined): Who | undefined {
    const who = at.get('who');
    if (!who.isAbsent) return readWho(who, { name, faultNamed });
    return at.problem('it has no who. Say what its victims are, such as who: {ranks: random 1}.');
  }

  #parts(at: Cursor, { name, kind, depth }: { name: string; kind: string; depth: number }): FaultEntry[] {
    const parts = at.get('parts');
    if (!isWhole({ kind })) {
      if (!parts.isAbsent) at.problemOfKey('parts', `only ${WHOLES.join(' and ')} have parts. Leave it out.`);
      return [];
    }
    for (const key of LEAF_KEYS) {
      if (!at.get(key).isAbsent) at.problemOfKey(key, `${kind} has none of its own. Give it to its parts.`);
    }
    if (parts.isAbsent) at.problem(`${kind} has no parts. Add them: parts: [{kind: …}, …].`);
    if (depth >= DEPTH_MAX && !parts.isAbsent) {
      at.problemOfKey('parts', `compose and sequence may be ${DEPTH_MAX - 1} deep. Split the fault.`);
      return [];
    }
    return parts.items().flatMap((part) => this.entry(part, `${name}/`, depth + 1) ?? []);
  }

  #count(at: Cursor, count: number | undefined, when: FaultEntry['when'] | undefined): number {
    if (when?.delay.type !== 'trace') return count ?? 1;
    const { length } = when.delay.timesMs;
    if (count !== undefined && count > length) {
      at.get('count').problem(`the trace has ${length} times, but ${count} injections are asked for. Leave count out: `
        + 'it is as many as the trace has.');
    }
    return count ?? length;
  }

  #unknownKind(at: Cursor, kind: string): void {
    const known = [...this.#context.kinds.keys(), ...WHOLES].sort();
    at.problem(`there is no kind ${shown(kind)} of faults.${didYouMean(kind, known)} Expected one of `
      + `${known.join(', ')}; stci info fault explains them.`);
  }

  /** The full name; a part may name another part of its whole without the whole's name. */
  #nameOf(wanted: string, at: Cursor, prefix: string): string | undefined {
    if (at.isFull) return undefined;
    const name = [prefix + wanted, wanted].find((one) => this.#names.has(one));
    if (name !== undefined && this.#names.get(name) === 'leaf') return name;
    const leaves = [...this.#names].flatMap(([one, type]) => (type === 'leaf' ? [one] : []));
    if (name !== undefined) {
      const parts = leaves.filter((one) => one.startsWith(`${name}/`));
      return at.problem(`${shown(wanted)} consists of parts. Name one of them: ${someOf(parts)}.`);
    }
    return at.problem(`there is no fault ${shown(wanted)}.${didYouMean(wanted, leaves)} Expected one of `
      + `${someOf(leaves)}.`);
  }
}

function checkVictims(at: Cursor, kind: string, { victims }: FaultModule, who: Who): void {
  if (who.of === 'nobody' || at.isAbsent) return;
  const noun = { ranks: 'rank', hosts: 'host', agents: 'agent', links: 'link', partition: 'partition',
    sets: 'partition' } as const;
  if (victims.includes(noun[who.of])) return;
  at.problem(`kind ${kind} is not for victims of type ${noun[who.of]}. Expected ${victims.join(', ')}.`);
}

function checkDuration(at: Cursor, kind: string, module: FaultModule): void {
  const isGiven = !at.get('duration').isAbsent;
  const problem = durationProblem(kind, module, isGiven, 'duration');
  if (problem === undefined) return;
  if (isGiven) at.problemOfKey('duration', problem);
  else at.problem(problem);
}

function readArguments(at: Cursor, kind: string, { args: specs }: FaultModule): Record<string, ParamValue> {
  const known = Object.keys(specs);
  for (const key of at.keys()) {
    if (Object.hasOwn(specs, key)) continue;
    const near = nearest(key, known).length > 0 ? didYouMean(key, known)
      : ` Expected ${known.length === 0 ? 'none' : known.join(', ')}.`;
    at.problemOfKey(key, `kind ${kind} has no such argument.${near}`);
  }
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) =>
    [name, readArgument(at.get(name), spec) ?? spec.default]));
}

function readArgument(at: Cursor, spec: ParamSpec): ParamValue | undefined {
  if (at.isAbsent) return undefined;
  const isList = Array.isArray(at.value);
  const text = isList && spec.type === 'list' ? at.items().map((item) => item.text() ?? '').join(',') : at.text();
  if (text === undefined) {
    return isList ? at.problem(`a list is not what is expected: ${expectedForm(spec)}.`) : undefined;
  }
  const parsed = parseValue(spec, text);
  return parsed.ok ? parsed.value : at.problem(`${shown(at.value)} ${parsed.problem}; expected ${expectedForm(spec)}.`);
}

/** Faults that wait for each other, or whose victims depend on each other's. */
function checkCycles(entries: ReadFaults['entries']): void {
  const known = entries.flatMap(({ entry }) => entry ?? []);
  const choices = new Map(leavesOf(known).map((leaf) => [leaf.name, dependencies(leaf)]));
  const waits = new Map(known.map((entry) => [entry.name, ownerOfTrigger(entry)]));
  const [choosing, waiting] = [onCycles(choices), onCycles(waits)];
  for (const { at, entry } of entries) {
    if (entry === undefined) continue;
    for (const { name } of leavesOf([entry])) {
      const chosen = choosing.has(name) && !at.isFull ? cycleFrom(name, choices) : undefined;
      if (chosen === undefined) continue;
      at.problem(`the victims of ${someOf(chosen, ' depend on those of ')}. Take one same-host-as or not-of away.`);
    }
    const waited = waiting.has(entry.name) && !at.isFull ? cycleFrom(entry.name, waits) : undefined;
    if (waited !== undefined) at.get('when').problem(`${someOf(waited, ' waits for ')}: none can come first.`);
  }
}

/** The fault of the file that a fault waits for. */
function ownerOfTrigger({ when: { after } }: FaultEntry): readonly string[] {
  return after.on === 'event' && after.fault !== undefined ? [after.fault.split('/')[0]!] : [];
}
