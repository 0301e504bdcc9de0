/**
 * talk ROUNDS S: in each round, sends messages to other ranks, receives some, puts a key, and calls a strict
 * collective, then rests for S seconds. Where the collective fails because a rank was lost, it shrinks and goes on.
 * Writes what it is told, an object in JSON a line, for checkers that know nothing of the runtime; then ends with 0.
 */

import {
  ranksInRanges, type CollectiveKind, type PartHead, type ProgramEvent, type ProgramRequest, type Rank,
} from '@stci/interface';
import { connectProgram, type SendRequest } from './program-client.js';
import { textBytes, type Tool } from './tool.js';

/** What is called in turn since the last shrink. */
export const TALK_KINDS: readonly CollectiveKind[] = ['barrier', 'gather', 'allgather', 'broadcast', 'exchange'];

const SENDS = 3;
const RECEIVES = 2;
const WAIT_MS = 50;
const SHORT_BYTES = 24;
const LONG_BYTES = 20_000;

type Request = ProgramRequest extends infer R ? R extends { readonly id: number } ? Omit<R, 'id'> : never : never;
type Then = (event: ProgramEvent, text: string) => void;

export function talk(tool: Tool): void {
  new Talk(tool);
}

class Talk {
  readonly #tool: Tool;
  readonly #send: SendRequest;
  readonly #calls = new Map<number, Then>();
  readonly #sent = new Map<Rank, number>();
  #id = 0;
  #onAgreed: Then = () => undefined;
  #rank = 0;
  #attempt = 1;
  #group: Rank[] = [];
  #epoch = 0;
  /** Rounds since the last shrink, and in all. */
  #round = 0;
  #rounds = 0;

  constructor(tool: Tool) {
    this.#tool = tool;
    this.#send = connectProgram(tool, (event, bytes) => {
      const text = String.fromCharCode(...bytes.subarray(0, SHORT_BYTES * 100));
      if (event.type === 'welcome') this.#begin(event);
      else if (event.type === 'agreed') this.#onAgreed(event, text);
      else if ('id' in event) {
        const then = this.#calls.get(event.id);
        this.#calls.delete(event.id);
        then?.(event, text);
      }
    });
  }

  #write(line: object): void {
    const text = `${JSON.stringify(line)}\n`;
    this.#tool.write('stdout', Uint8Array.from(text, (char) => char.charCodeAt(0)));
  }

  #call(request: Request, then: Then, text = ''): void {
    this.#id += 1;
    this.#calls.set(this.#id, then);
    this.#send({ ...request, id: this.#id } as ProgramRequest, textBytes(text));
  }

  #vote(kind: CollectiveKind, root: Rank, text: string, then: Then): void {
    this.#onAgreed = then;
    this.#send({ type: 'vote', kind, root, form: 'text' }, textBytes(text));
  }

  #begin({ rank, size, attempt }: Extract<ProgramEvent, { readonly type: 'welcome' }>): void {
    this.#rank = rank;
    this.#attempt = attempt;
    this.#group = Array.from({ length: size }, (_, i) => i);
    this.#write({ attempt });
    if (attempt > 1) this.#shrink();
    else this.#sendSome();
  }

  /** Sends to others of the group in turn, one of them longer than is sent without asking. */
  #sendSome(): void {
    let left = SENDS;
    for (let i = 0; i < SENDS; i++) {
      const to = this.#group[(this.#group.indexOf(this.#rank) + 1 + i + this.#rounds) % this.#group.length] as Rank;
      const number = (this.#sent.get(to) ?? 0) + 1;
      this.#sent.set(to, number);
      const length = i === 0 && to % 2 === 0 ? LONG_BYTES : SHORT_BYTES;
      const text = `${this.#rank}:${this.#attempt}:${number};`.padEnd(length);
      this.#call({ type: 'send', to, tag: i === 0 ? 'long' : 'short', form: 'text' }, (event) => {
        this.#write(event.type === 'done' ? { sent: to, number } : { unsent: to, code: codeOf(event) });
        left -= 1;
        if (left === 0) this.#receive(RECEIVES, WAIT_MS, () => this.#meet());
      }, text);
    }
  }

  #receive(count: number, waitMs: number, then: () => void): void {
    if (count === 0) return then();
    this.#call({ type: 'receive', waitMs }, (event, text) => {
      if (event.type !== 'message') return then();
      this.#write({ got: event.from, as: text.split(';')[0] });
      this.#receive(count - 1, waitMs, then);
    });
  }

  #meet(): void {
    const kind = TALK_KINDS[this.#round % TALK_KINDS.length] as CollectiveKind;
    const root = this.#group[this.#round % this.#group.length] as Rank;
    const mine = `${this.#rank}.${this.#epoch}.${this.#round}`;
    this.#call({ type: 'put', key: mine, form: 'text' }, () => {
      this.#vote(kind, root, kind === 'exchange' ? '' : `${mine};`, (event, text) => {
        const { code, parts } = event as { readonly code: string; readonly parts: readonly PartHead[] } & ProgramEvent;
        const values = text.split(';').slice(0, -1);
        const group = this.#group.length;
        const { epoch, round } = { epoch: this.#epoch, round: this.#round };
        this.#write({ kind, root, epoch, round, code, group, parts: parts.map(([rank]) => rank), values });
        if (code === 'STCI_CLIENT_RANK_LOST' || code === 'STCI_CLIENT_RANK_ENDED') return this.#shrink();
        if (code !== '') return this.#tool.exit(1);
        if (kind === 'exchange') this.#get(`${root}.${epoch}.${round}`);
        else this.#rest();
      });
    }, mine);
  }

  #get(key: string): void {
    this.#call({ type: 'get', key }, (event, text) => {
      this.#write({ key, found: event.type === 'value' && event.found, value: text });
      this.#rest();
    });
  }

  #shrink(): void {
    this.#vote('shrink', 0, '', (event) => {
      const { agreed, code } = event as Extract<ProgramEvent, { readonly type: 'agreed' }>;
      this.#group = ranksInRanges(agreed.ranks);
      this.#epoch += 1;
      this.#round = -1;
      this.#write({ epoch: this.#epoch, code, group: this.#group });
      if (code !== '') this.#tool.exit(1);
      else this.#rest();
    });
  }

  #rest(): void {
    this.#round += 1;
    this.#rounds += 1;
    const isLast = this.#rounds >= Number(this.#tool.args[0] ?? 5);
    // What was sent to it before a collective that it took part in has come.
    if (isLast) return this.#receive(Infinity, 0, () => this.#tool.exit(0));
    this.#tool.after(Number(this.#tool.args[1] ?? 0) * 1000, () => this.#sendSome());
  }
}

function codeOf(event: ProgramEvent): string {
  return event.type === 'failed-call' ? event.code : event.type;
}
