/** Message types of programs that use a client library; rows of the table in messages.ts. */

import { COLLECTIVES, FORMS, PROGRAM_KEY_CHARS_MAX, PROGRAM_TAG_CHARS_MAX } from '@stci/interface';
import { bool, bytes, fields, integer, list, optional, shortStr, str, tuple, u32 } from '../codec/shape.js';

/** Ranks, first to last, that were lost, why, and on which host. */
const lostRanks = tuple(u32, u32, str, str);
const ranges = list(tuple(u32, u32));

/** As index in FORMS. */
const form = integer(0, FORMS.length - 1);
const kind = integer(0, COLLECTIVES.length - 1);

/** Their lengths are no part of what is charged for a message, or a pair: they are bounded by themselves. */
const tag = shortStr(PROGRAM_TAG_CHARS_MAX);
const key = shortStr(PROGRAM_KEY_CHARS_MAX);

const pairs = list(tuple(key, form, bytes));

/** `[rank, form, bytes]` each. */
const parts = list(tuple(u32, form, bytes));

const id = integer(1, Number.MAX_SAFE_INTEGER);

export const PROGRAM_MESSAGES = {
  /** Session agent → controller: a program uses the client library here; answered by `program.state`. */
  'program.open': { id: 96, from: ['session'], ofOwnHost: true, body: fields({ host: u32 }) },
  /** `places`: `[host, name, ranks]` each; `attempts`: `[rank, attempt]` of those that were started again. */
  'program.state': {
    id: 97, from: ['controller'],
    body: fields({
      decided: u32, lost: list(lostRanks), ended: ranges, places: list(tuple(u32, str, ranges)),
      attempts: list(tuple(u32, u32)), pairs,
    }),
  },
  /**
   * Session agent → controller: `[rank, number, kind, flag, root, form, length, part, pairs]` each; part and pairs
   * are empty where they are too long together.
   */
  'program.votes': {
    id: 98, from: ['session'], ofOwnHost: true,
    body: fields({
      host: u32, sequence: u32,
      votes: list(tuple(u32, u32, kind, bool, u32, form, u32, bytes, pairs)),
    }),
  },
  /** Controller → every session agent of the job: these ranks were lost; have ended; a collective is decided. */
  'program.failed': { id: 99, from: 'above', body: fields({ lost: list(lostRanks) }) },
  'program.ended': { id: 102, from: 'above', body: fields({ ranks: ranges }) },
  /** `joins`: `[attempt, host, its name]` of each rank that joined; `partsTo`: whose agent gets `program.parts`. */
  'program.agreed': {
    id: 100, from: 'above',
    body: fields({
      sequence: u32, kind, flag: bool, isMismatch: bool, ranks: ranges, joined: ranges, failed: ranges,
      joins: list(tuple(u32, u32, str)), code: str, reason: str, parts, partsTo: optional(u32), pairs,
    }),
  },
  'program.parts': { id: 103, from: ['controller'], body: fields({ sequence: u32, parts }) },
  /** Controller → session agent: calls `[rank, number]` that fail at once. */
  'program.refused': {
    id: 104, from: ['controller'],
    body: fields({
      calls: list(tuple(u32, u32)), code: str, reason: str, failed: ranges, missing: list(lostRanks),
    }),
  },
  /**
   * Session agent → session agent: messages of ranks, `[call, from, to, attempt, tag, form, bytes]` each, and long ones
   * that room is asked for, `[call, from, to, attempt, tag, length]`. `decided`: collectives that the sender knows of.
   */
  'program.messages': {
    id: 105, from: ['session'], ofOwnHost: true,
    body: fields({
      host: u32, decided: u32,
      messages: list(tuple(id, u32, u32, u32, tag, form, bytes)),
      asks: list(tuple(id, u32, u32, u32, tag, u32)),
    }),
  },
  /**
   * Its answer: so many batches came, and these calls' messages are with their receivers; by itself also
   * `[rank, bytes]` of credit, and calls that there is room for.
   */
  'program.taken': {
    id: 106, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, batches: u32, calls: list(id), credit: list(tuple(u32, u32)), grants: list(id) }),
  },
  /**
   * Controller → session agent: what its programs wait for. Its answer: of so many the first, `[rank, kind, from, tag,
   * ms]`; `kind`: of a collective + 1, or 0: a receive, from a rank + 1, or 0: any, with a tag, or '': any.
   */
  'program.wait': { id: 107, from: ['controller'], body: fields({}) },
  'program.waiting': {
    id: 108, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, count: u32, waits: list(tuple(u32, u32, u32, tag, u32)) }),
  },
} as const;
