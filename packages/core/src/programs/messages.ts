/** Message types of programs that use a client library: rows that the service adds to the table. */

import {
  COLLECTIVES, FORMS, PROGRAM_KEYS_MAX, PROGRAM_KEY_CHARS_MAX, PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PART_BYTES_MAX,
  PROGRAM_TAG_CHARS_MAX,
} from '@stci/interface';
import { members, name, text } from '../codec/bounds.js';
import { bool, bytes, fields, integer, list, optional, str, tuple, u32, wallTime } from '../codec/shape.js';
import { collected } from '../messages/collected.js';
import { declareMessages } from '../messages/messages.js';

/** Ranks, first to last, that were lost, why, and on which host. */
const lostRanks = tuple(u32, u32, text, name);
const ranges = members(tuple(u32, u32));

const MARK_CHARS_MAX = 256;

/** As index in FORMS. */
const form = integer(0, FORMS.length - 1);
const kind = integer(0, COLLECTIVES.length - 1);

/** Lengths of tags and keys are no part of what is charged for a message, or a pair: each has its own bound. */
const tag = str(PROGRAM_TAG_CHARS_MAX);
const key = str(PROGRAM_KEY_CHARS_MAX);

const part = bytes(PROGRAM_PART_BYTES_MAX);

const pairs = list(tuple(key, form, part), PROGRAM_KEYS_MAX);

/** `[rank, form, bytes]` each. */
const parts = members(tuple(u32, form, part));

const id = integer(1, Number.MAX_SAFE_INTEGER);

const PROGRAM_MESSAGES = {
  /** Session agent → controller: a program uses the client library here; answered by `program.state`. */
  'program.open': { id: 96, from: ['session'], ofOwnHost: true, body: fields({ host: u32 }) },
  /** `places`: `[host, name, ranks]` each; `attempts`: `[rank, attempt]` of those that were started again. */
  'program.state': {
    id: 97, from: ['controller'],
    body: fields({
      decided: u32, lost: members(lostRanks), ended: ranges, places: members(tuple(u32, name, ranges)),
      attempts: members(tuple(u32, u32)), pairs,
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
      votes: members(tuple(u32, u32, kind, bool, u32, form, u32, part, pairs)),
    }),
  },
  /** Controller → every session agent of the job: these ranks were lost; have ended; a collective is decided. */
  'program.failed': { id: 99, from: 'above', body: fields({ lost: members(lostRanks) }) },
  'program.ended': { id: 102, from: 'above', body: fields({ ranks: ranges }) },
  /** Session agent → controller: marks of programs, `[rank, name, wallMs]` each. */
  'program.marked': {
    id: 101, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, marks: members(tuple(u32, str(MARK_CHARS_MAX), wallTime)) }),
  },
  /**
   * `joins`: `[attempt, host, its name]` of each rank that joined. `partsTo`: the one rank that gets the parts; the
   * agent of its host, `partsAt`, gets the decision with them by itself.
   */
  'program.agreed': {
    id: 100, from: 'above',
    body: fields({
      sequence: u32, kind, flag: bool, isMismatch: bool, ranks: ranges, joined: ranges, failed: ranges,
      joins: members(tuple(u32, u32, name)), code: name, reason: text, parts, partsTo: optional(u32),
      partsAt: optional(u32), pairs,
    }),
  },
  /** Controller → session agent: calls `[rank, number]` that fail at once. */
  'program.refused': {
    id: 104, from: ['controller'],
    body: fields({
      calls: members(tuple(u32, u32)), code: name, reason: text, failed: ranges, missing: members(lostRanks),
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
      messages: members(tuple(id, u32, u32, u32, tag, form, bytes(PROGRAM_MESSAGE_BYTES_MAX))),
      asks: members(tuple(id, u32, u32, u32, tag, u32)),
    }),
  },
  /**
   * Answer to `program.messages`: so many batches came, and these calls' messages are with their receivers; by itself
   * also `[rank, bytes]` of credit, and calls that there is room for.
   */
  'program.taken': {
    id: 106, from: ['session'], ofOwnHost: true,
    body: fields({
      host: u32, batches: u32, calls: members(id), credit: members(tuple(u32, u32)), grants: members(id),
    }),
  },
  /**
   * What the programs of each session agent wait for: of so many the first, `[rank, kind, from, tag, ms]`; `kind`: of a
   * collective + 1, or 0: a receive, from a rank + 1, or 0: any, with a tag, or '': any.
   */
  'program.wait': {
    id: 107, ...collected('all', fields({ count: u32, waits: members(tuple(u32, u32, u32, tag, u32)) })),
  },
} as const;

export type ProgramMessages = typeof PROGRAM_MESSAGES;

declare module '../messages/messages.js' {
  interface MessageTable extends ProgramMessages {}
}

declareMessages(PROGRAM_MESSAGES);
