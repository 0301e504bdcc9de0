/** `who` of a fault: victims, how many of them, and filters. */

import type { AgentRole } from '@stci/interface';
import { didYouMean } from '@stci/core';
import type { Choice, EndRef, Filter, HostRef, Who } from './contracts.js';
import type { Cursor } from './reader.js';
import { shown } from './show.js';
import { readChoice } from './texts.js';

const SUBJECTS = ['ranks', 'hosts', 'agents', 'links', 'partition'] as const;
type Subject = (typeof SUBJECTS)[number];

const SHAPES = ['halves', 'ring', 'bridge', 'isolate'] as const;
const ALL: Choice = { pick: 'all' };
const FILTERS = ['choose', 'on', 'depth', 'not', 'same-host-as', 'not-of', 'distinct'];

/** `faultNamed`: the full name of the fault that a text means; undefined if it has told that there is none. */
export interface WhoContext {
  /** The fault's own full name. */
  readonly name: string;
  faultNamed(at: Cursor): string | undefined;
}

export function readWho(at: Cursor, context: WhoContext): Who | undefined {
  if (!at.isObject) return undefined;
  const subjects = SUBJECTS.filter((key) => !at.get(key).isAbsent);
  const [subject] = subjects;
  if (subject === undefined || subjects.length > 1) {
    const got = subject === undefined ? 'none is given' : `${subjects.join(' and ')} are`;
    return at.problem(`exactly one of ${SUBJECTS.join(', ')} says what the victims are, but ${got}.`);
  }
  if (subject === 'partition') return readPartition(at);
  const filter = readFilter(at, subject, context);
  const value = at.get(subject);
  const isAll = value.value === 'all';
  const choice = isAll ? undefined : chosenWith(value);
  if (choice !== undefined && !at.get('choose').isAbsent) {
    at.get('choose').problem(`${subject} says already how many: ${shown(value.value)}. Leave one of the two out.`);
  }
  const all = { ...filter, choice: choice?.value ?? filter.choice };
  switch (subject) {
    case 'ranks': {
      const ranks = isAll || choice !== undefined ? 'all' : value.numbers(undefined, ['all', 'random', 'contiguous']);
      return ranks && { of: 'ranks', ranks, ...all };
    }
    case 'hosts': {
      const hosts = isAll || choice !== undefined ? 'all' : value.hostRefs();
      return hosts && { of: 'hosts', hosts, ...all };
    }
    case 'agents':
      return value.string() === undefined ? undefined : { of: 'agents', role: value.string() as AgentRole, ...all };
    case 'links': {
      const links = isAll || choice !== undefined ? 'all' : readLinks(value);
      return links && { of: 'links', links, ...all };
    }
  }
}

/** `random 2` in place of a list: so many of all. */
function chosenWith(at: Cursor): { readonly value: Choice | undefined } | undefined {
  const text = at.string();
  const read = text === undefined ? undefined : readChoice(text);
  return read && { value: at.take(read) };
}

function readFilter(at: Cursor, subject: Subject, { name, faultNamed }: WhoContext): Filter {
  const choose = at.get('choose');
  const text = choose.string();
  const choice = text === undefined ? undefined : readChoice(text);
  if (text !== undefined && choice === undefined) {
    choose.problem(`${shown(text)} is not a choice. Expected all, random K, P% or contiguous K.`);
  }
  const on = at.get('on');
  const isAll = on.string() === 'all';
  const not = at.get('not');
  const near = at.get('same-host-as');
  const others = at.get('not-of').names().flatMap((other) => faultNamed(other) ?? []);
  const sameHostAs = near.isAbsent ? undefined : faultNamed(near);
  return {
    choice: (choice && choose.take(choice)) ?? ALL,
    on: on.isAbsent || isAll ? 'all' : on.hostRefs() ?? 'all',
    depth: at.get('depth').integer(),
    not: (subject === 'ranks' ? not.numbers() : not.hostRefs()) ?? [],
    sameHostAs,
    notOf: [...new Set([...others, ...(at.get('distinct').isTrue() ? [name] : [])])],
  };
}

function readPartition(at: Cursor): Who | undefined {
  for (const key of FILTERS) {
    if (!at.get(key).isAbsent) at.problemOfKey(key, 'a partition concerns all agents. Leave it out.');
  }
  const value = at.get('partition');
  const text = value.string();
  if (text === undefined) return readSets(value);
  const shape = SHAPES.find((known) => known === text);
  if (shape !== undefined) return { of: 'partition', shape };
  return value.problem(`${shown(text)} is no form of a partition.${didYouMean(text, SHAPES)} Expected one of `
    + `${SHAPES.join(', ')}, or a list of sets such as [[controller, n1], [n2]].`);
}

function readSets(at: Cursor): Who | undefined {
  const sets = at.items().map(readEnds);
  if (!Array.isArray(at.value) || sets.includes(undefined)) return undefined;
  return { of: 'sets', sets: sets.flatMap((set) => (set === undefined ? [] : [set])) };
}

function readLinks(at: Cursor): (readonly [EndRef, EndRef])[] | undefined {
  const text = at.string();
  if (text !== undefined) {
    return at.problem(`${shown(text)} is not a choice of links. Expected all, random K, P%, contiguous K, or a list `
      + 'of pairs such as [controller, n1].');
  }
  if (!Array.isArray(at.value)) return undefined;
  return at.items().flatMap((item): (readonly [EndRef, EndRef])[] => {
    const ends = readEnds(item);
    if (ends === undefined) return [];
    const [source, target] = ends;
    if (ends.length === 2 && source !== undefined && target !== undefined) return [[source, target]];
    item.problem(`a link has 2 ends, but ${ends.length} are named. Expected a pair such as [controller, n1].`);
    return [];
  });
}

/** `controller`, and hosts, which stand for their root agents. */
function readEnds(at: Cursor): EndRef[] | undefined {
  if (!Array.isArray(at.value)) return undefined;
  return at.items().flatMap((item): EndRef[] => {
    if (item.value === 'controller') return ['controller'];
    return (item.hostRefs() ?? []).map((host: HostRef) => ({ host }));
  });
}
