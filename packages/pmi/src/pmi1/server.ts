/**
 * PMI-1, the launcher's side of one rank's connection, as a pure machine: bytes in, steps out. What only its owner
 * knows (keys, barriers, names, spawn) is an event, which he answers when he can; the rest it answers itself. A client
 * has one request open at a time.
 */

import { assert } from '@stci/interface';
import { fromByteText } from '../bytes/byte-text.js';
import { refuseStream } from '../bytes/refusal.js';
import { Pmi1Reader, formatCommand, type Pmi1Bounds, type Pmi1Command } from './lines.js';
import { SpawnBlocks, type Pmi1Program } from './spawn.js';

/** Bounds that clients are told; MPICH's own. */
export const PMI1_MAXES = { kvsNameChars: 256, keyChars: 64, valueChars: 1024 } as const;
/** The newest version that is spoken here; the lower one of both sides' is answered. */
const VERSION = 1;
const SUBVERSION_MAX = 2;

export interface Pmi1ServerInit {
  readonly rank: number;
  readonly size: number;
  readonly kvsName: string;
  readonly universeSize: number;
  readonly appNumber?: number;
  readonly bounds?: Pmi1Bounds;
}

export type Pmi1Event =
  /** From now on a death without `finalize` is a failure, and SIGUSR1 is handled. */
  | { readonly kind: 'init' }
  | { readonly kind: 'get'; readonly key: string }
  | { readonly kind: 'put'; readonly key: string; readonly value: string }
  | { readonly kind: 'barrier' }
  | { readonly kind: 'publish'; readonly service: string; readonly port: string }
  | { readonly kind: 'unpublish'; readonly service: string }
  | { readonly kind: 'lookup'; readonly service: string }
  | { readonly kind: 'spawn'; readonly programs: readonly Pmi1Program[] }
  /** A whole integer, which is to be made an exit code that is not 0; no answer. */
  | { readonly kind: 'abort'; readonly exitCode: number; readonly message: string }
  | { readonly kind: 'finalize' }
  /** A command that is not served, for the log; it has been answered. */
  | { readonly kind: 'unknown'; readonly name: string };

/** What a command leads to: bytes to write, and what the owner has to do; one of both at least. */
export interface Pmi1Step {
  readonly reply?: Uint8Array;
  readonly event?: Pmi1Event;
}

/** How an owner answers the open request. */
export type Pmi1Answer =
  | { readonly kind: 'get' | 'lookup'; readonly value: string | undefined }
  | { readonly kind: 'put' | 'publish' | 'unpublish'; readonly problem?: string }
  | { readonly kind: 'barrier' }
  | { readonly kind: 'spawn'; readonly errorCodes: readonly number[]; readonly problem?: string };

/** Events that wait for an answer of the owner. */
type Pending = Pmi1Answer['kind'];

export class Pmi1Server {
  readonly #init: Pmi1ServerInit;
  readonly #reader: Pmi1Reader;
  readonly #spawn = new SpawnBlocks();
  #pending: { readonly kind: Pending; readonly key: string } | undefined;
  #state: 'new' | 'running' | 'finalized' = 'new';

  constructor(init: Pmi1ServerInit) {
    this.#init = init;
    this.#reader = new Pmi1Reader(init.bounds);
  }

  /** True between init and finalize: an end of the connection is a failure then. */
  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get pending(): Pending | undefined {
    return this.#pending?.kind;
  }

  append(chunk: Uint8Array): void {
    this.#reader.append(chunk);
  }

  /** The next step; throws a refused stream. */
  next(): Pmi1Step | undefined {
    for (;;) {
      const command = this.#reader.next();
      if (command === undefined) return undefined;
      const step = command.isBlock ? this.#block(command) : this.#command(command);
      if (step !== undefined) return step;
    }
  }

  /** The bytes of the answer to the open request. */
  answer(answer: Pmi1Answer): Uint8Array {
    const pending = this.#pending;
    assert(pending?.kind === answer.kind, `an answer to ${answer.kind}, open is ${pending?.kind ?? 'nothing'}`);
    this.#pending = undefined;
    return formatAnswer(answer, pending?.key ?? '');
  }

  #block(command: Pmi1Command): Pmi1Step | undefined {
    this.#checkTurn(command.name);
    if (command.name !== 'spawn') return unknownCommand(command.name);
    const programs = this.#spawn.add(command);
    return programs === undefined ? undefined : this.#ask({ kind: 'spawn', programs }, '');
  }

  #command({ name, fields }: Pmi1Command): Pmi1Step {
    const text = (key: string): string => fields.get(key) ?? '';
    if (name === 'abort') {
      const exitCode = Number.parseInt(text('exitcode'), 10);
      return { event: { kind: 'abort', exitCode: Number.isNaN(exitCode) ? 1 : exitCode, message: text('message') } };
    }
    if (this.#spawn.isOpen) refuseStream('one request at a time', `${name} in spawn`);
    this.#checkTurn(name);
    return this.#facts(name, text) ?? this.#request(name, text);
  }

  #checkTurn(name: string): void {
    if (this.#pending !== undefined) refuseStream('one request at a time', `${name} in ${this.#pending.kind}`);
    if (this.#state !== (name === 'init' || name === 'initack' ? 'new' : 'running')) {
      refuseStream('init first, and nothing after finalize', name);
    }
  }

  /** What the machine itself knows. */
  #facts(name: string, text: (key: string) => string): Pmi1Step | undefined {
    const { rank, size, kvsName, universeSize, appNumber = 0 } = this.#init;
    switch (name) {
      case 'init': return this.#version(text('pmi_version'), text('pmi_subversion'));
      case 'initack': {
        const lines = `cmd=initack\ncmd=set size=${size}\ncmd=set rank=${rank}\ncmd=set debug=0\n`;
        return { reply: fromByteText(lines) };
      }
      case 'get_maxes': return reply('maxes', {
        kvsname_max: PMI1_MAXES.kvsNameChars, keylen_max: PMI1_MAXES.keyChars, vallen_max: PMI1_MAXES.valueChars,
      });
      case 'get_appnum': return reply('appnum', { appnum: appNumber });
      case 'get_my_kvsname': return reply('my_kvsname', { kvsname: kvsName });
      case 'get_universe_size': return reply('universe_size', { size: universeSize });
      case 'finalize':
        this.#state = 'finalized';
        return { ...reply('finalize_ack'), event: { kind: 'finalize' } };
      default: return undefined;
    }
  }

  #version(version: string, subversion: string): Pmi1Step {
    const isServed = version === String(VERSION);
    const lower = Math.min(Number.parseInt(subversion, 10) || 0, SUBVERSION_MAX);
    const answer = reply('response_to_init', { pmi_version: VERSION, pmi_subversion: lower, rc: isServed ? 0 : -1 });
    if (!isServed) return answer;
    this.#state = 'running';
    return { ...answer, event: { kind: 'init' } };
  }

  /** What the owner knows. */
  #request(name: string, text: (key: string) => string): Pmi1Step {
    const [key, value, service] = [text('key'), text('value'), text('service')];
    switch (name) {
      case 'get':
        if (this.#isForeign(text('kvsname'))) return { reply: formatAnswer({ kind: 'get', value: undefined }, key) };
        return this.#ask({ kind: 'get', key }, key);
      case 'put': {
        const problem = this.#isForeign(text('kvsname')) ? 'kvs_not_found' : putProblem(key, value);
        if (problem !== undefined) return { reply: formatAnswer({ kind: 'put', problem }, key) };
        return this.#ask({ kind: 'put', key, value }, key);
      }
      case 'barrier_in': return this.#ask({ kind: 'barrier' }, '');
      case 'publish_name': return this.#ask({ kind: 'publish', service, port: text('port') }, service);
      case 'unpublish_name': return this.#ask({ kind: 'unpublish', service }, service);
      case 'lookup_name': return this.#ask({ kind: 'lookup', service }, service);
      default: return unknownCommand(name);
    }
  }

  #isForeign(kvsName: string): boolean {
    return kvsName !== this.#init.kvsName;
  }

  #ask(event: Pmi1Event & { readonly kind: Pending }, key: string): Pmi1Step {
    this.#pending = { kind: event.kind, key };
    return { event };
  }
}

function reply(name: string, fields: Readonly<Record<string, string | number>> = {}): Pmi1Step {
  return { reply: formatCommand(name, fields) };
}

/** An answer that its client doesn't expect, so that it gives up in place of waiting. */
function unknownCommand(name: string): Pmi1Step {
  const word = name.replace(/[^a-z0-9_]/gi, '').slice(0, PMI1_MAXES.keyChars);
  return { ...reply(`${word}_result`, { rc: -1, msg: 'unknown_command' }), event: { kind: 'unknown', name: word } };
}

function putProblem(key: string, value: string): string | undefined {
  if (key === '' || key.length > PMI1_MAXES.keyChars) return 'bad_key';
  return value.length > PMI1_MAXES.valueChars ? 'value_too_long' : undefined;
}

function formatAnswer(answer: Pmi1Answer, key: string): Uint8Array {
  switch (answer.kind) {
    case 'get': return answer.value === undefined
      ? formatCommand('get_result', { rc: -1, msg: `key_${key}_not_found`, value: 'unknown' })
      : formatCommand('get_result', { rc: 0, msg: 'success', value: answer.value });
    case 'lookup': return answer.value === undefined
      ? formatCommand('lookup_result', { rc: 1, msg: 'service_not_found' })
      : formatCommand('lookup_result', { port: answer.value, info: 'ok', rc: 0, msg: 'success' });
    case 'barrier': return formatCommand('barrier_out');
    case 'spawn': {
      const { errorCodes, problem } = answer;
      const rc = problem === undefined ? 0 : -1;
      return formatCommand('spawn_result', errorCodes.length === 0 ? { rc } : { rc, errcodes: errorCodes.join(',') });
    }
    case 'put':
    case 'publish':
    case 'unpublish': {
      const outcome = { rc: answer.problem === undefined ? 0 : -1, msg: answer.problem ?? 'success' };
      if (answer.kind === 'put') return formatCommand('put_result', outcome);
      return formatCommand(`${answer.kind}_result`, { info: outcome.rc === 0 ? 'ok' : 'failed', ...outcome });
    }
  }
}
