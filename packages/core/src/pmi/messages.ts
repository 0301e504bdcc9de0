/** Message types of the service for MPI libraries: rows that it adds to the table. */

import { NAME_CHARS_MAX, members, name, numbers, text } from '../codec/bounds.js';
import { bool, bytes, fields, integer, list, oneOf, optional, str, tuple, u32 } from '../codec/shape.js';
import { spawnRequest } from '../messages/job-shapes.js';
import { declareMessages } from '../messages/messages.js';
import { KEYS_OF_RANK_MAX, KEY_CHARS_MAX, VALUE_BYTES_MAX } from './contracts.js';

const key = str(KEY_CHARS_MAX);
const keys = list(key, KEYS_OF_RANK_MAX);
const pairs = list(tuple(key, bytes(VALUE_BYTES_MAX)), KEYS_OF_RANK_MAX);
const range = tuple(u32, u32, u32);
const status = integer(-0x8000_0000, 0x7fff_ffff);

const processSet = fields({
  nspace: name, job: u32, first: u32, size: u32, universe: u32, parent: optional(tuple(name, u32)),
  hosts: members(tuple(u32, name, members(tuple(u32, u32)))),
  apps: members(tuple(u32, u32)),
});

const collective = fields({
  kind: oneOf('fence', 'connect', 'disconnect', 'group', 'ungroup'), name: str(NAME_CHARS_MAX), members: members(range),
  sequence: u32,
});

const PMI_MESSAGES = {
  /** Session agent → controller, request: a program speaks to this host. */
  'pmi.open': {
    id: 150, from: ['session'], ofOwnHost: true, late: true,
    body: fields({ host: u32, protocol: oneOf('pmi1', 'pmix'), version: name }),
    reply: fields({ sets: members(processSet), lost: numbers, silent: numbers }),
  },
  /**
   * Session agent → controller: all members of this host that live have come; `[rank, pairs]` of what they put. `lost`:
   * members of this host that are, which is told before anybody goes on without them.
   */
  'pmi.enter': {
    id: 151, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, id: collective, data: members(tuple(u32, pairs)), lost: numbers }),
  },
  /** Controller → the session agents of the members. */
  'pmi.done': {
    id: 152, from: 'above',
    body: fields({
      id: collective, problem: text, context: u32, data: members(tuple(u32, u32, pairs)), sets: members(processSet),
    }),
  },
  /**
   * Session agent → that of the rank's host, request: what it has put, once this key, or any, is among it. `number`: of
   * the asking host's own, for `pmi.forget`.
   */
  'pmi.get': {
    id: 153, from: ['session'], ofOwnHost: true, late: true,
    body: fields({ host: u32, number: u32, rank: u32, key: optional(key) }),
    reply: fields({ isFound: bool, pairs }),
  },
  /** Session agent → controller, request: `keepsFor`: what outlives, as PMIx counts it. Reply: keys that are taken. */
  'pmi.publish': {
    id: 154, from: ['session'], ofOwnHost: true, late: true,
    body: fields({ host: u32, rank: u32, persistence: integer(0, 255), pairs }), reply: fields({ taken: keys }),
  },
  'pmi.unpublish': {
    id: 155, from: ['session'], ofOwnHost: true, late: true, body: fields({ host: u32, rank: u32, keys }),
    reply: fields({ missing: keys }),
  },
  /** ... `waits`: until all are there. Reply: `[nspace, process, key, value]` each. */
  'pmi.lookup': {
    id: 156, from: ['session'], ofOwnHost: true, late: true,
    body: fields({ host: u32, number: u32, keys, waits: bool }),
    reply: fields({ found: list(tuple(name, u32, key, bytes(VALUE_BYTES_MAX)), KEYS_OF_RANK_MAX) }),
  },
  /** From who has asked with this number, `pmi.get` or `pmi.lookup`: nobody waits for that any longer. */
  'pmi.forget': { id: 164, from: ['session'], ofOwnHost: true, body: fields({ host: u32, number: u32 }) },
  /** Session agent → controller, request: of other jobs; whoever knows their names may know them. */
  'pmi.sets': {
    id: 162, from: ['session'], late: true, body: fields({ nspaces: list(name, KEYS_OF_RANK_MAX) }),
    reply: fields({ sets: members(processSet) }),
  },
  /** Session agent → controller, request: a program spawns others, as further ranks of its job. */
  'pmi.spawn': {
    id: 161, from: ['session'], ofOwnHost: true, late: true, body: fields({ host: u32, request: spawnRequest }),
    reply: fields({ problem: text, sets: members(processSet) }),
  },
  /** Session agent → controller: a program has its job end. */
  'pmi.abort': {
    id: 157, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, rank: u32, cause: oneOf('abort', 'restart'), exitCode: status, message: text }),
  },
  /** Session agent → controller: a rank waits in MPI_Init for one that is gone; without: for one of another library. */
  'pmi.split': {
    id: 163, from: ['session'], ofOwnHost: true, body: fields({ host: u32, rank: u32, absent: optional(u32) }),
  },
  /** Controller → every session agent of the job: these are lost; `silent`: had ended well when their agent was. */
  'pmi.lost': { id: 158, from: 'above', body: fields({ ranks: numbers, silent: numbers }) },
  /** Session agent → controller, and from there to all: a program raises an event. */
  'pmi.notify': {
    id: 159, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, rank: u32, status, event: bytes(VALUE_BYTES_MAX) }),
  },
  'pmi.event': {
    id: 160, from: 'above',
    body: fields({ rank: u32, nspace: name, process: u32, status, event: bytes(VALUE_BYTES_MAX) }),
  },
} as const;

export type PmiMessages = typeof PMI_MESSAGES;

declare module '../messages/messages.js' {
  interface MessageTable extends PmiMessages {}
}

declareMessages(PMI_MESSAGES);
