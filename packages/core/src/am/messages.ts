/**
 * The one table of message types, `service.verb`. A type has a number for the frame header and a shape that is
 * checked before a handler sees the body. Numbers are never used again for something else.
 */

import type {
  AppSpec,
  ErrorRecord,
  JobControl,
  JobEvent,
  JobSpec,
  ProcessEnd,
  SignalName,
  StdinTo,
  StreamSpec,
} from '@stci/interface';
import { any, bool, fields, list, num, oneOf, optional, plain, str, tuple, u32, type Shape } from '../codec/shape.js';

const signalName: Shape<SignalName> = (value, path) => {
  const name = str(value, path);
  return name.startsWith('SIG') ? (name as SignalName) : (oneOf('SIG…')(value, path) as never);
};

/** An error of another agent: code and text are strings, the rest is for people. */
export const errorRecord: Shape<ErrorRecord> = (value, path) =>
  fields({ code: str, message: str })(plain()(value, path), path) as ErrorRecord;

/** One host's part of a job: `[host, [[app, first, count, stride], …]]`. */
const hostRuns = tuple(u32, list(tuple(u32, u32, u32, u32)));

/** Names and logins of a subtree's hosts, as in boot details. */
const hostLogins = list(tuple(str, str));

const streamSpec = fields({
  id: u32,
  members: list(u32),
  topology: fields({ kind: str, options: optional(plain<Readonly<Record<string, unknown>>>()) }),
  reduction: oneOf('none', 'sum', 'min', 'max', 'concat', 'and', 'or'),
}) as Shape<StreamSpec>;

const MESSAGE_SHAPES = {
  /** Root agent → controller: running. */
  'agent.up': { id: 1, body: fields({ host: u32, pid: u32, hostname: str }) },
  /** Controller → the starter of `host`: start its agent again. `subtree`: who is at and below it now. */
  'launch.restart': { id: 5, body: fields({ host: u32, subtree: hostLogins }) },
  /** Controller → the starter of `host`, which is left out: start the agents below it yourself. */
  'launch.takeover': { id: 6, body: fields({ host: u32, subtree: hostLogins }) },
  /** Parent → child, neighbour: end what is below you, then yourself. */
  'agent.stop': { id: 2, body: fields({ reason: str }) },
  /** Agent → controller: a child did not come up, or is gone. */
  'agent.failed': {
    id: 3,
    body: fields({ kind: oneOf('agent-launch', 'agent-lost'), agent: u32, error: errorRecord, wallMs: num }),
  },
  /** Any → any, request: the same body comes back. */
  'agent.echo': { id: 4, body: any },
  /** Parent → child, neighbour, split on the way: the part of a job that lies at and below the receiver. */
  'job.launch': {
    id: 10,
    body: fields({
      job: u32,
      session: str,
      size: u32,
      nodes: u32,
      apps: list(plain<AppSpec>()),
      env: plain<Readonly<Record<string, string>>>(),
      wdir: str,
      stdin: plain<StdinTo>(),
      creditBytes: u32,
      hosts: list(hostRuns),
    }),
  },
  /** Session agent → controller: `[rank, pid, wallMs]` each. */
  'job.started': { id: 11, body: fields({ host: u32, ranks: list(tuple(u32, u32, num)) }) },
  /** Session agent → controller: ends of ranks. */
  'job.exited': {
    id: 12,
    body: fields({
      host: u32,
      ranks: list(
        fields({
          rank: u32,
          pid: u32,
          outcome: oneOf('exited', 'signalled', 'ended', 'failed-start', 'not-started'),
          end: optional(plain<ProcessEnd>()),
          error: optional(errorRecord),
          startWallMs: optional(num),
          endWallMs: num,
          leftovers: u32,
        }),
      ),
    }),
  },
  /** Session agent → controller: all its ranks have ended, their output is sent, nothing of them is left. */
  'job.drained': { id: 13, body: fields({ host: u32, swept: u32 }) },
  /** Session agent → front-end: no tool of this host reads standard input any more. */
  'job.unread': { id: 16, body: fields({ host: u32 }) },
  /** Controller → every session agent. */
  'job.signal': { id: 14, body: fields({ signal: signalName }) },
  'job.end': { id: 15, body: fields({ kill: bool, reason: str }) },
  /** Front-end → controller. */
  'job.submit': { id: 20, body: fields({ spec: plain<JobSpec>() }) },
  'job.control': { id: 21, body: plain<JobControl>() },
  /** Controller → front-end, in order. The report of `ended` has neither ranks nor failures: they came before. */
  'job.event': { id: 22, body: plain<JobEvent>() },
  /** Controller → front-end, before `ended`: one failure of the report, the first one first. */
  'job.failure': { id: 23, body: fields({ error: errorRecord }) },
  /** Stream root → member, request: open your end. */
  'stream.open': { id: 30, body: streamSpec },
  'stream.close': { id: 31, body: fields({ stream: u32 }) },
} as const satisfies Record<string, { id: number; body: Shape<unknown> }>;

export type MessageName = keyof typeof MESSAGE_SHAPES;

export type MessageBody<Name extends MessageName> =
  (typeof MESSAGE_SHAPES)[Name]['body'] extends Shape<infer T> ? T : never;

const NAME_BY_ID = new Map<number, MessageName>(
  Object.entries(MESSAGE_SHAPES).map(([name, { id }]) => [id, name as MessageName]),
);

export function messageId(name: MessageName): number {
  return MESSAGE_SHAPES[name].id;
}

export function messageName(id: number): MessageName | undefined {
  return NAME_BY_ID.get(id);
}

/** Throws STCI_MESSAGE_INVALID naming the path of what is wrong. */
export function checkBody<Name extends MessageName>(name: Name, body: unknown): MessageBody<Name> {
  return (MESSAGE_SHAPES[name].body as Shape<MessageBody<Name>>)(body, name);
}
