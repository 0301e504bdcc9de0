/**
 * Requests of clients: a command, and fields of its own. One table describes what the server reads and what a client
 * writes. Fields that a newer client has behind them are passed over.
 */

import { Packer, Unpacker } from './bfrops/packing.js';
import type { BufferForm } from './bfrops/types.js';
import {
  counted, eachCounted, one, optional, readFields, rest, scopeData, text, writeFields, type Fields, type RecordOf,
} from './fields.js';

const collective = { procs: counted('proc'), infos: counted('info') };
const group = { id: text, ...collective };

/** Command → its number; its names are those of PMIx's calls. */
export const PMIX_COMMAND = {
  jobInfo: 0, abort: 1, commit: 2, fence: 3, get: 4, finalize: 5, publish: 6, lookup: 7, unpublish: 8, spawn: 9,
  connect: 10, disconnect: 11, notify: 12, registerEvents: 13, deregisterEvents: 14, query: 15, log: 16, jobControl: 18,
  monitor: 19, groupConstruct: 24, groupDestruct: 28,
} as const;

export const REQUESTS = {
  jobInfo: {},
  abort: { status: one('status'), message: one('string'), procs: counted('proc') },
  /** Scopes: 1 what ranks of this host see, 2 what others do; a global value is in both. */
  commit: { scopes: rest(scopeData) },
  fence: collective,
  get: { nspace: text, rank: one('rank'), infos: counted('info'), key: optional(one('string')) },
  finalize: {},
  publish: { uid: one('uint32'), infos: counted('info') },
  lookup: { uid: one('uint32'), keys: eachCounted(text), infos: counted('info') },
  unpublish: { uid: one('uint32'), keys: eachCounted(text), infos: counted('info') },
  spawn: { infos: counted('info'), apps: counted('app') },
  connect: collective,
  disconnect: collective,
  notify: { status: one('status'), range: one('range'), infos: counted('info') },
  /** No codes: the default handler. */
  registerEvents: { codes: counted('status'), infos: counted('info') },
  /** Never answered. */
  deregisterEvents: { codes: rest(one('status')) },
  query: { queries: counted('query') },
  log: { timestamp: one('time'), data: counted('info'), directives: counted('info') },
  /** No procs: all of the client's job. */
  jobControl: collective,
  monitor: { monitor: one('info'), error: one('status'), infos: counted('info') },
  groupConstruct: group,
  groupDestruct: group,
} as const satisfies Readonly<Record<keyof typeof PMIX_COMMAND, Fields>>;

export type PmixCommand = keyof typeof REQUESTS;

/** A request by its command; one of a number without a row is `unsupported`. */
export type PmixRequest =
  | { readonly [K in PmixCommand]: { readonly command: K } & RecordOf<(typeof REQUESTS)[K]> }[PmixCommand]
  | { readonly command: 'unsupported'; readonly code: number };

export type PmixRequestOf<K extends PmixRequest['command']> = Extract<PmixRequest, { readonly command: K }>;

const NAMES = new Map(Object.entries(PMIX_COMMAND).map(([name, code]) => [code as number, name as PmixCommand]));

/** Throws a refused body. */
export function decodeRequest(form: BufferForm, body: Uint8Array): PmixRequest {
  const source = new Unpacker(form, body);
  const code = source.one('command');
  const command = NAMES.get(code);
  if (command === undefined) return { command: 'unsupported', code };
  return { command, ...readFields(REQUESTS[command], source) } as PmixRequest;
}

export function encodeRequest(form: BufferForm, request: PmixRequest): Uint8Array {
  const sink = new Packer(form);
  if (request.command === 'unsupported') {
    sink.pack('command', request.code);
  } else {
    sink.pack('command', PMIX_COMMAND[request.command]);
    writeFields(REQUESTS[request.command], sink, request);
  }
  return sink.finish();
}
