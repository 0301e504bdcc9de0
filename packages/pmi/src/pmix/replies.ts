/**
 * Replies to requests, and events that the server sends unasked. All but that of the job info begin with a status, and
 * a client reads no further unless it is success.
 */

import { Packer, Unpacker } from './bfrops/packing.js';
import { BUFFER_FORM, type BufferForm, type PmixInfo, type PmixProc } from './bfrops/types.js';
import {
  counted, eachCounted, kvals, nspaceData, one, optional, rankData, readFields, rest, text, writeFields, type Fields,
  type RecordOf,
} from './fields.js';
import { PMIX_COMMAND, type PmixCommand } from './requests.js';
import { refuseBody } from '../bytes/refusal.js';

/** Statuses that a server of jobs answers, and codes of its events. */
export const PMIX_STATUS = {
  success: 0, error: -1, procAborted: -7, badParameter: -27, notFound: -46, notSupported: -47, partialSuccess: -52,
  timeout: -24, lostConnection: -101, duplicateKey: -53,
} as const;

const none = {};
const infos = { infos: optional(counted('info')) };

/** What follows a status of success. */
export const REPLIES = {
  abort: none, commit: none, fence: none, finalize: none, publish: none, unpublish: none, disconnect: none,
  notify: none, registerEvents: none, log: none, groupDestruct: none,
  /** The first of a rank, or of all that are known: the client keeps each. */
  get: { ranks: rest(rankData) },
  lookup: { found: counted('pdata') },
  /** The job info of the new job is that of its own first request. */
  spawn: { nspace: text, kvals },
  connect: { nspaces: rest(nspaceData) },
  query: infos, jobControl: infos, monitor: infos,
  /** Of clients before 6. */
  groupConstruct: { procs: counted('proc'), context: one('size') },
} as const satisfies Readonly<Record<Exclude<PmixCommand, 'jobInfo' | 'deregisterEvents'>, Fields>>;

export type PmixReplyName = keyof typeof REPLIES;
export type PmixReplyOf<K extends PmixReplyName> = RecordOf<(typeof REPLIES)[K]>;

/** The reply to any request but the first one that says no more than a status. */
export function encodeStatus(form: BufferForm, status: number): Uint8Array {
  const sink = new Packer(form);
  sink.pack('status', status);
  return sink.finish();
}

export function encodeReply<K extends PmixReplyName>(
  form: BufferForm, command: K, reply: PmixReplyOf<K>, status: number = PMIX_STATUS.success,
): Uint8Array {
  const sink = new Packer(form);
  sink.pack('status', status);
  writeFields(REPLIES[command], sink, reply);
  return sink.finish();
}

/** The reply to `get`, of ranks' data that are encoded already: they go to many clients. */
export function encodeGet(form: BufferForm, ranks: Iterable<Uint8Array>): Uint8Array {
  const sink = new Packer(form);
  sink.pack('status', PMIX_STATUS.success);
  for (const data of ranks) sink.pack('byteObject', data);
  return sink.finish();
}

/** A client's side: the status, and what follows success, or that of a part. */
export function decodeReply<K extends PmixReplyName>(
  form: BufferForm, command: K, body: Uint8Array,
): { readonly status: number; readonly reply: PmixReplyOf<K> | undefined } {
  const source = new Unpacker(form, body);
  const status = source.one('status');
  const isGiven = status === PMIX_STATUS.success || status === PMIX_STATUS.partialSuccess;
  if (!isGiven) return { status, reply: undefined };
  return { status, reply: readFields(REPLIES[command], source) as PmixReplyOf<K> };
}

const JOB_INFO = { nspace: text, kvals };
export type JobInfoReply = RecordOf<typeof JOB_INFO>;

/** The reply to `jobInfo`, without a status. */
export function encodeJobInfo(form: BufferForm, reply: JobInfoReply): Uint8Array {
  const sink = new Packer(form);
  writeFields(JOB_INFO, sink, reply);
  return sink.finish();
}

export function decodeJobInfo(form: BufferForm, body: Uint8Array): JobInfoReply {
  return readFields(JOB_INFO, new Unpacker(form, body));
}

/** Clients since 6 read more of a group: whether there is a context, and what members told of themselves. */
const GROUP_SINCE_6 = {
  procs: counted('proc'), hasContext: one('bool'), context: one('size'), infos: eachCounted(one('info')),
};
export const GROUP_REPLY_MAJOR = 6;

export function encodeGroupSince6(form: BufferForm, reply: RecordOf<typeof GROUP_SINCE_6>): Uint8Array {
  const sink = new Packer(form);
  sink.pack('status', PMIX_STATUS.success);
  writeFields(GROUP_SINCE_6, sink, reply);
  return sink.finish();
}

/** An event, on tag 0. */
export interface PmixEvent {
  readonly status: number;
  readonly source: PmixProc;
  readonly infos: readonly PmixInfo[];
}
const INFOS = counted('info');
const EVENT = { command: one('command'), status: one('status'), source: one('proc'), infos: counted('info') };

export function encodeEvent(form: BufferForm, event: PmixEvent): Uint8Array {
  const sink = new Packer(form);
  writeFields(EVENT, sink, { command: PMIX_COMMAND.notify, ...event });
  return sink.finish();
}

export function decodeEvent(form: BufferForm, body: Uint8Array): PmixEvent {
  const { command, ...event } = readFields(EVENT, new Unpacker(form, body));
  return command === PMIX_COMMAND.notify ? event : refuseBody(`an event, ${PMIX_COMMAND.notify}`, command);
}

/** What an event says besides, to be passed on. */
export function encodeInfos(infos: readonly PmixInfo[]): Uint8Array {
  const sink = new Packer(BUFFER_FORM.plain);
  INFOS.write(sink, infos);
  return sink.finish();
}

export function decodeInfos(bytes: Uint8Array): readonly PmixInfo[] {
  return INFOS.read(new Unpacker(BUFFER_FORM.plain, bytes));
}

/** The event that tells a client of a rank's death, as ULFM wants it. */
export function lostRank(proc: PmixProc): PmixEvent {
  const value = { type: 'proc', data: proc } as const;
  return { status: PMIX_STATUS.procAborted, source: proc, infos: [{ key: 'pmix.evproc', value }] };
}
