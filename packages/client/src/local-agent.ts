/** The agent of a program that stcirun did not start: a job of one rank, whose messages are to itself. */

import { hostname } from 'node:os';
import {
  PROGRAM_KEYS_BYTES_MAX, PROGRAM_KEYS_MAX, programKeyBytes, type Form, type ProgramErrorCode, type ProgramEvent,
  type ProgramRequest,
} from '@stci/interface';
import type { AgentLink, AgentLinkEvents } from './agent-socket.js';
import { faultAlone } from './topology-alone.js';

/** Bytes of messages that wait; further sends are answered when there is room. */
const QUEUE_BYTES_MAX = 16 * 1024 * 1024;

type Of<Type extends ProgramRequest['type']> = Extract<ProgramRequest, { readonly type: Type }>;

interface Value {
  readonly form: Form;
  readonly bytes: Uint8Array;
}

interface Waiting {
  readonly request: Of<'receive'>;
  readonly timer: NodeJS.Timeout | undefined;
}

const NO_BYTES: Uint8Array = new Uint8Array();
const ALL = [[0, 0]] as const;

export class LocalAgent implements AgentLink {
  /** The one whose connection is open: a rank has one at a time. */
  static #current: LocalAgent | undefined;

  readonly #events: AgentLinkEvents;
  readonly #messages: (Value & { readonly tag: string })[] = [];
  #queuedBytes = 0;
  /** Sends that wait for room. */
  readonly #sends: (readonly [Of<'send'>, Uint8Array])[] = [];
  readonly #receives: Waiting[] = [];
  readonly #put = new Map<string, Value>();
  readonly #keys = new Map<string, Value>();
  #decided = 0;
  #isOpen = true;

  constructor(events: AgentLinkEvents) {
    this.#events = events;
  }

  /** Answers come later, as those of an agent do. */
  send(request: ProgramRequest, bytes = NO_BYTES): void {
    setImmediate(() => this.#isOpen && this.#onRequest(request, bytes));
  }

  /** A wait for a message that cannot come ends with an error, so nothing is to be kept running. */
  hold(): void {
    return undefined;
  }

  close(): void {
    this.#isOpen = false;
    if (LocalAgent.#current === this) LocalAgent.#current = undefined;
    for (const { timer } of this.#receives) clearTimeout(timer);
  }

  destroy(reason: string): void {
    this.close();
    this.#events.onClosed(reason);
  }

  #answer(event: ProgramEvent, bytes = NO_BYTES): void {
    this.#events.onEvent(event, bytes);
  }

  #fail(id: number, code: ProgramErrorCode, reason: string): void {
    this.#answer({ type: 'failed-call', id, code, reason });
  }

  #onRequest(request: ProgramRequest, bytes: Uint8Array): void {
    switch (request.type) {
      case 'hello':
        return this.#hello();
      case 'vote':
        return this.#vote(request, bytes);
      case 'send':
        this.#sends.push([request, bytes]);
        return this.#admit();
      case 'receive':
        return this.#receive(request);
      case 'cancel':
        return this.#end(request.id, 'STCI_CLIENT_CANCELLED', 'it was cancelled');
      case 'put':
        this.#put.set(request.key, { form: request.form, bytes });
        return this.#answer({ type: 'done', id: request.id });
      case 'get':
        return this.#get(request);
      case 'hosts':
        return this.#answer({ type: 'hosts', id: request.id, hosts: [[hostname(), ALL]] });
      case 'topology':
        return this.#topology(request);
      default:
        return undefined; // Signs of life, and marks.
    }
  }

  #hello(): void {
    if (LocalAgent.#current !== undefined) {
      return this.#answer({ type: 'refused', reason: 'rank 0 is connected already, from this process' });
    }
    LocalAgent.#current = this;
    this.#answer({ type: 'welcome', rank: 0, size: 1, job: 0, attempt: 1, host: hostname() });
  }

  #vote({ kind, flag = true, form = 'bytes' }: Of<'vote'>, bytes: Uint8Array): void {
    const reason = kind === 'exchange' ? this.#exchange() : '';
    const hasParts = !['agree', 'shrink', 'barrier', 'exchange'].includes(kind);
    const agreed = { kind, flag, isMismatch: false, ranks: ALL, joined: [], failed: [], missing: [] };
    const code = reason === '' ? '' : 'STCI_CLIENT_LIMIT';
    const parts = hasParts ? [[0, bytes.length, form] as const] : [];
    this.#decided += 1;
    this.#answer({ type: 'agreed', code, reason, decided: this.#decided, agreed, parts }, bytes);
  }

  /** Returns why it cannot be; else ''. */
  #exchange(): string {
    const all = new Map([...this.#keys, ...this.#put]);
    this.#put.clear();
    const bytes = [...all].reduce((sum, [key, value]) => sum + programKeyBytes(key, value.bytes), 0);
    if (all.size > PROGRAM_KEYS_MAX) return `the job has ${all.size} keys, at most ${PROGRAM_KEYS_MAX} are allowed`;
    if (bytes > PROGRAM_KEYS_BYTES_MAX) {
      return `the job's keys count for ${bytes} bytes, at most ${PROGRAM_KEYS_BYTES_MAX} are allowed`;
    }
    for (const [key, value] of all) this.#keys.set(key, value);
    return '';
  }

  #get({ id, key }: Of<'get'>): void {
    const value = this.#keys.get(key);
    const { form, bytes } = value ?? { form: 'bytes', bytes: NO_BYTES };
    this.#answer({ type: 'value', id, found: value !== undefined, form }, bytes);
  }

  #topology({ id, spec, size }: Of<'topology'>): void {
    const fault = faultAlone(spec, size);
    if (fault !== undefined) return this.#fail(id, 'STCI_CLIENT_TOPOLOGY', fault);
    this.#answer({ type: 'topology', id, neighbours: [], parent: -1, children: [], diameter: 0, next: -1 });
  }

  /** Takes what waits to be sent as far as there is room. */
  #admit(): void {
    for (let next = this.#sends[0]; next !== undefined; next = this.#sends[0]) {
      const [{ id, tag, form }, bytes] = next;
      if (this.#queuedBytes > 0 && this.#queuedBytes + bytes.length > QUEUE_BYTES_MAX) return;
      this.#sends.shift();
      this.#queuedBytes += bytes.length;
      this.#messages.push({ tag, form, bytes });
      this.#answer({ type: 'done', id });
      this.#deliver();
    }
  }

  #receive(request: Of<'receive'>): void {
    const { id, waitMs, from } = request;
    const text = `no message came within ${waitMs} ms`;
    const timer = waitMs === undefined || waitMs === 0 ? undefined
      : setTimeout(() => this.#end(id, 'STCI_CLIENT_TIMEOUT', text), waitMs);
    this.#receives.push({ request, timer });
    this.#deliver();
    if (from === undefined) this.#end(id, 'STCI_CLIENT_RANK_ENDED', 'no other rank is left that could send');
    if (waitMs === 0) this.#end(id, 'STCI_CLIENT_TIMEOUT', text);
  }

  #deliver(): void {
    for (const { request } of [...this.#receives]) {
      const at = this.#messages.findIndex(({ tag }) =>
        request.tag === undefined ? !tag.startsWith('_') : tag === request.tag);
      if (at < 0) continue;
      const [{ tag, form, bytes }] = this.#messages.splice(at, 1) as [Value & { readonly tag: string }];
      this.#queuedBytes -= bytes.length;
      this.#take(request.id);
      this.#answer({ type: 'message', id: request.id, from: 0, tag, form }, bytes);
      this.#admit();
    }
  }

  /** Ends a receive that still waits. */
  #end(id: number, code: ProgramErrorCode, reason: string): void {
    if (this.#take(id)) this.#fail(id, code, reason);
  }

  #take(id: number): boolean {
    const at = this.#receives.findIndex(({ request }) => request.id === id);
    if (at < 0) return false;
    clearTimeout(this.#receives[at]?.timer);
    this.#receives.splice(at, 1);
    return true;
  }
}
