/**
 * Active messages ("am"; STCI paper, II-E.2): the table of message types, `service.verb`. A type has a number for the
 * frame header, its permitted senders, and a shape that is checked before a handler sees the body. Numbers are never
 * reused. Services of agents add rows of their own: by `declareMessages`, and for the compiler to MessageTable.
 */

import { CONTROLLER, StciError, addressIndex, addressKind, addressName, assert } from '@stci/interface';
import type { Address, AgentKind } from '@stci/interface';
import { MESSAGE_BYTES_MAX, members, name, numbers, text, word } from '../codec/bounds.js';
import {
  any, bool, check, closed, fields, integer, oneOf, optional, tuple, u32, wallTime, type Infer, type Shape,
} from '../codec/shape.js';
import { addresses, hostLogin, socket } from '../launcher/host-login.js';
import { collected } from './collected.js';
import { FAILURE_MESSAGES } from './failure-messages.js';
import { sessionFailure } from './failure-shapes.js';
import { heldRows } from './held-rows.js';
import { appSpec, errorRecord, jobParams, processEnd, signalName, spawn, stdinTo, texts } from './job-shapes.js';
import { linkReport } from './link-report.js';
import { neighbour } from './neighbour.js';
import { SESSION_MESSAGES } from './session-messages.js';

/** One host's part of a job: `[host, node, [[app, first, count, stride], …]]`; `node`: its place among `nodes`. */
const hostRuns = tuple(u32, u32, members(tuple(u32, u32, u32, u32)));

/** The end of a rank's attempt, the first if `attempt` is absent. */
const rankEnd = {
  rank: u32,
  pid: u32,
  outcome: oneOf('exited', 'signalled', 'ended', 'failed-start', 'lost', 'not-started'),
  end: optional(processEnd),
  error: optional(errorRecord),
  startWallMs: optional(wallTime),
  endWallMs: wallTime,
  leftovers: u32,
  readInput: optional(bool),
  attempt: optional(u32),
};

/** Who may send a type: agents of these kinds; the parent; the parent or, through it, the controller; any agent. */
type Senders = readonly AgentKind[] | 'parent' | 'above' | 'any';

export interface MessageType {
  readonly id: number;
  readonly from: Senders;
  /** `host` in the body must be the sender's own. */
  readonly ofOwnHost?: true;
  readonly body: Shape<unknown>;
  /** Shape of the reply to a request; absent: the reply has no body. */
  readonly reply?: Shape<unknown>;
  /** Shape of the parts that may come before the reply. */
  readonly part?: Shape<unknown>;
  /** It is answered however late: its request has no deadline but the loss of who is asked. */
  readonly late?: true;
  /** It is a collection, of contributions of these agents. */
  readonly collects?: 'roots' | 'all';
}

const KERNEL_MESSAGES = {
  /** Root agent → controller: the agent is up. `socket`: where it can be reached if it loses its parent. */
  'agent.up': {
    id: 1, from: ['root'], ofOwnHost: true,
    body: fields({ host: u32, pid: u32, network: optional(text), incarnation: u32, socket: optional(socket) }),
  },
  /** Root agent → controller: what started it, a batch system, has told it to end, and gives it a time for that. */
  'agent.ending': { id: 131, from: ['root'], ofOwnHost: true, body: fields({ host: u32 }) },
  /**
   * Controller → root agent: start the agent of the first of these hosts, with those of the others, which are below it.
   * Hosts between are left out; while the session runs (`isLate`), hosts below keep the links that they have.
   */
  'tree.start': { id: 67, from: ['controller'], body: fields({ subtree: members(hostLogin), isLate: bool }) },
  /** Parent → child, neighbour: stop the agents below you, then yourself. */
  'agent.stop': { id: 2, from: 'parent', body: fields({ reason: text }) },
  /** Agent → controller: a child did not come up, or was lost. */
  'agent.failed': {
    id: 3,
    from: ['root', 'controller'],
    body: fields({
      kind: oneOf('agent-launch', 'agent-lost'), agent: u32, incarnation: u32,
      evidence: oneOf('exited', 'closed', 'silent'),
      error: errorRecord,
      session: optional(sessionFailure),
    }),
  },
  /** Controller → the agent that started `agent`, request: close your link to it. */
  'agent.expel': { id: 8, from: ['controller'], body: fields({ agent: u32, reason: text }) },
  /** Controller → root agent: leave the session, the agents below you stay. */
  'agent.leave': { id: 9, from: ['controller'], body: fields({}) },
  /**
   * Controller → root agent: link to the agent of this host, which has lost its parent. `hosts`: those at and below it.
   * The answer is a message of its own, because it counts however late it is. `waitMs`: how long the attempt may take.
   */
  'tree.adopt': {
    id: 60, from: ['controller'],
    body: fields({ attempt: u32, login: hostLogin, socket, hosts: numbers, waitMs: u32 }),
  },
  /** Root agent → controller. `parent`: of an agent that is `busy`. */
  'tree.adopted': {
    id: 61, from: ['root'],
    body: fields({ attempt: u32, result: oneOf('adopted', 'dead', 'busy', 'unreachable'), parent: optional(u32) }),
  },
  /** Parent → child, neighbour, passed on to all below: an agent above has been linked again. */
  'tree.mended': { id: 62, from: 'parent', body: fields({}) },
  /** Parent → child, neighbour, passed on to all below: an agent above has no parent; others may link to each. */
  'tree.orphaned': { id: 94, from: 'parent', body: fields({}) },
  /** Parent → child, neighbour: it is cut off; another agent may link to the child, which waits so long at most. */
  'tree.release': { id: 69, from: 'parent', body: fields({ waitMs: u32 }) },
  /** Controller → every root agent: all have come up, in a session that has no job yet. */
  'session.ready': { id: 66, from: 'above', body: fields({}) },
  /** Controller → root agent that was linked again, passed on to those below: of the jobs up to `last` these run. */
  'session.jobs': { id: 68, from: 'above', body: fields({ last: u32, running: numbers }) },
  /** Controller → every root agent: the session is about to end, so that nobody is linked again. */
  'session.end': { id: 65, from: 'above', body: fields({}) },
  /** Controller → root agent: agents of `hosts` are reached by that of `child`. */
  'tree.route': { id: 63, from: ['controller'], body: fields({ child: u32, hosts: numbers }) },
  /** Controller → root agent: listen for links of the overlay. */
  'overlay.open': { id: 80, from: ['controller'], body: fields({ kind: oneOf('private', 'ws') }) },
  /** Root agent → controller: where it listens; `problem`: why it does not. */
  'overlay.opened': {
    id: 81, from: ['root'], ofOwnHost: true,
    body: fields({ host: u32, incarnation: u32, addresses, problem: optional(text) }),
  },
  /** Controller → root agent: the overlay has so many positions, and these are your neighbours. */
  'overlay.links': {
    id: 82,
    from: ['controller'],
    body: fields({ size: u32, neighbours: members(neighbour) }),
  },
  /** Parent → child, passed on to all below: frames take other ways upwards, and may have been lost. */
  'overlay.detour': { id: 83, from: 'parent', body: fields({}) },
  /** Controller → root agent, request: measure your links. */
  'links.survey': { id: 84, from: ['controller'], body: fields({}), reply: members(linkReport) },
  /** Controller → root agent, by any way: ask this agent for an answer. */
  'probe.ask': { id: 87, from: ['controller', 'root'], body: fields({ probe: u32, agent: u32 }) },
  /** Root agent → controller: it has given one. */
  'probe.answered': { id: 88, from: ['root'], body: fields({ probe: u32, agent: u32 }) },
  /** Any → any, request: replies with the same body. */
  'agent.echo': { id: 4, from: 'any', body: any(MESSAGE_BYTES_MAX), reply: any(MESSAGE_BYTES_MAX) },
  /** Parent → child, neighbour; each agent forwards to a child only the part of the job at and below it. */
  'job.launch': {
    id: 10,
    from: 'parent',
    body: fields({
      session: name,
      size: u32,
      nodes: u32,
      apps: members(appSpec),
      env: texts,
      wdir: word,
      stdin: stdinTo,
      params: optional(jobParams),
      creditBytes: integer(1, 0xffff_ffff),
      token: name,
      hosts: members(hostRuns),
      /** Ranks beyond `size`, which programs of the job have spawned. */
      spawns: optional(members(spawn)),
      /** Number of the session agent's start, from 1; the ranks that it starts, with their attempts; absent: all. */
      start: optional(u32),
      restarts: optional(members(tuple(u32, u32))),
    }),
  },
  /**
   * Controller → session agent of this start, from 1: `[rank, app, attempt]` of ranks that were elsewhere, or are
   * spawned, and are started there; of the spawned ones the programs, by their numbers, and the spawns. A session agent
   * that follows the one it was sent to is told by its launch what it starts.
   */
  'job.restart': {
    id: 91,
    from: ['controller'],
    body: fields({
      start: u32,
      ranks: members(tuple(u32, u32, u32)),
      apps: optional(members(tuple(u32, appSpec))), spawns: optional(members(spawn)),
    }),
  },
  /** Session agent → controller: `[rank, pid, wallMs]` each. */
  'job.started': {
    id: 11, from: ['session'], ofOwnHost: true, body: fields({ host: u32, ranks: members(tuple(u32, u32, wallTime)) }),
  },
  /** Session agent → controller: ends of ranks. */
  'job.exited': {
    id: 12,
    from: ['session'],
    ofOwnHost: true,
    body: fields({
      host: u32,
      ranks: members(closed(rankEnd)),
    }),
  },
  /**
   * Session agent → controller: attempts of ranks that have ended, each of which the local error manager follows by
   * another after a pause.
   */
  'job.restarting': {
    id: 90, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, ranks: members(closed({ ...rankEnd, afterMs: u32, moves: optional(bool) })) }),
  },
  /** Answer to `job.restarting`, one for each. */
  'job.restarting.noted': { id: 93, from: ['controller'], body: fields({}) },
  /**
   * Session agent → controller: all its ranks have ended and their output is sent. `survivors`: processes left over
   * that could not be ended; `restarts`: messages `job.restart` to it that it had got.
   */
  'job.drained': {
    id: 13, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, swept: u32, survivors: numbers, restarts: u32 }),
  },
  /** Controller → session agent, request: what may have been lost with a link above is sent again before the answer. */
  /** Session agent → controller: no tool of this host reads standard input any longer. */
  'job.unread': { id: 16, from: ['session'], ofOwnHost: true, body: fields({ host: u32 }) },
  /** Controller → every session agent; root agent → its own, request: answered when the tools have got it. */
  'job.signal': { id: 14, from: 'above', body: fields({ signal: signalName }) },
  /** Root agent → its session agents: SIGTERM comes, or has come, from outside to what runs on this host. */
  'host.ending': { id: 132, from: 'parent', body: fields({}) },
  'job.end': { id: 15, from: 'above', body: fields({ kill: bool, reason: text }) },
  /** Parent → child: nothing of the job is needed any more. */
  'job.close': { id: 17, from: 'parent', body: fields({}) },
  /** What each agent holds, as rows of a tree. */
  'agent.held': { id: 146, ...collected('all', heldRows) },
  ...FAILURE_MESSAGES,
  ...SESSION_MESSAGES,
} as const satisfies Record<string, MessageType>;

/** Bound on a reply without a body. */
const NO_BODY = { bytesMax: 0 };

type KernelMessages = typeof KERNEL_MESSAGES;

/** Every row that the program knows; what declares rows adds them here. */
export interface MessageTable extends KernelMessages {}

export type MessageName = keyof MessageTable;

export type MessageBody<Name extends MessageName> = Infer<MessageTable[Name]['body']>;

/** undefined: the reply has no body. */
export type MessageReply<Name extends MessageName> =
  MessageTable[Name] extends { readonly reply: Shape<infer T> } ? T : undefined;

export type MessagePart<Name extends MessageName> =
  MessageTable[Name] extends { readonly part: Shape<infer T> } ? T : never;

/** Types by which contributions are collected. */
export type CollectionName = {
  [Name in MessageName]: MessageTable[Name] extends { readonly collects: string } ? Name : never;
}[MessageName];

export type Contribution<Name extends CollectionName> =
  MessageReply<Name> extends readonly (readonly [number, number, infer T])[] ? T : never;

/** A message, or what answers a request. */
export type BodyKind = 'body' | 'reply' | 'part';

/** A job, to all agents below that have a part in it. */
export type Launch = MessageBody<'job.launch'>;

const TYPES = new Map<string, MessageType>();
const NAME_BY_ID = new Map<number, MessageName>();

/** Adds rows to the table; their names and numbers are no others'. */
export function declareMessages(rows: Readonly<Record<string, MessageType>>): void {
  for (const [name, row] of Object.entries(rows)) {
    assert(!TYPES.has(name), `message ${name} is declared once`);
    assert(!NAME_BY_ID.has(row.id), `number ${row.id} of message ${name} is not that of ${NAME_BY_ID.get(row.id)}`);
    TYPES.set(name, row);
    NAME_BY_ID.set(row.id, name as MessageName);
  }
}

declareMessages(KERNEL_MESSAGES);

/** The whole table, by the names of the types. */
export function messageTypes(): ReadonlyMap<string, MessageType> {
  return TYPES;
}

function typeOf(name: MessageName): MessageType {
  const type = TYPES.get(name);
  assert(type !== undefined, `message ${name} is declared`);
  return type;
}

export function messageId(name: MessageName): number {
  return typeOf(name).id;
}

export function messageName(id: number): MessageName | undefined {
  return NAME_BY_ID.get(id);
}

/** In front of the name of a type, in errors. */
const PREFIX = { body: '', reply: 'a reply to ', part: 'a part of the reply to ' } as const;

/** Bytes of fields that a newer peer may add. */
const ADDED_BYTES_MAX = 64 * 1024;

export function isLate(name: MessageName): boolean {
  return typeOf(name).late === true;
}

export function isCollection(name: MessageName): name is CollectionName {
  return typeOf(name).collects !== undefined;
}

export function collectsFrom(name: CollectionName): 'roots' | 'all' {
  return typeOf(name).collects as 'roots' | 'all';
}

/** Most bytes of a message of this type, or of what answers one. */
export function bodyBytesMax(name: MessageName, kind: BodyKind = 'body'): number {
  const { bytesMax } = typeOf(name)[kind] ?? NO_BODY;
  return Math.min(MESSAGE_BYTES_MAX, bytesMax + ADDED_BYTES_MAX);
}

/** Throws STCI_MESSAGE_INVALID for a body which is longer than any of its type and kind. */
export function checkLength(name: MessageName, bytes: number, kind: BodyKind = 'body'): void {
  const bytesMax = bodyBytesMax(name, kind);
  if (bytes <= bytesMax) return;
  const text = `Expected at most ${bytesMax} bytes of ${PREFIX[kind]}${name}, got ${bytes}`;
  throw new StciError('STCI_MESSAGE_INVALID', text);
}

/** Throws STCI_MESSAGE_INVALID with the path of the wrong value. */
export function checkBody<Name extends MessageName>(name: Name, body: unknown): MessageBody<Name> {
  return check(typeOf(name).body as Shape<MessageBody<Name>>, body, name);
}

/** As checkBody, for what answers a request. */
export function checkReply(name: MessageName, body: unknown, kind: 'reply' | 'part' = 'reply'): void {
  const shape = typeOf(name)[kind];
  if (shape !== undefined) check(shape, body, PREFIX[kind] + name);
  else if (kind === 'part' || body !== undefined) {
    throw new StciError('STCI_MESSAGE_INVALID', `Expected no body in ${PREFIX[kind]}${name}`);
  }
}

/**
 * Throws STCI_MESSAGE_INVALID if `source` may not send this. `parent`: the parent, if the message came over its link.
 */
export function checkSender(name: MessageName, source: Address, parent: Address | undefined): void {
  if (maySend(typeOf(name).from, source, parent)) return;
  throw new StciError('STCI_MESSAGE_INVALID', `${addressName(source)} may not send ${name}`);
}

/** Throws STCI_MESSAGE_INVALID for a body that speaks for another host than the sender's own, where it must not. */
export function checkHost(name: MessageName, body: unknown, source: Address): void {
  const { host } = (typeOf(name).ofOwnHost === true ? body : {}) as { readonly host?: number };
  if (host === undefined || host === addressIndex(source)) return;
  throw new StciError('STCI_MESSAGE_INVALID', `${addressName(source)} may not send ${name} for host ${host}`);
}

/** Whether only agents above may send a type: it is a command, which goes by the tree. */
export function isCommand(type: number): boolean {
  const name = messageName(type);
  if (name === undefined) return false;
  const { from } = typeOf(name);
  return from === 'parent' || from === 'above' || (from !== 'any' && from.every((kind) => kind === 'controller'));
}

function maySend(from: Senders, source: Address, parent: Address | undefined): boolean {
  if (from === 'any') return true;
  const isParent = parent !== undefined && source === parent;
  if (from === 'parent') return isParent;
  if (from === 'above') return isParent || (parent !== undefined && source === CONTROLLER);
  const kind = addressKind(source);
  return kind !== undefined && from.includes(kind);
}
