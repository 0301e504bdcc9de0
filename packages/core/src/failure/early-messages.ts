/**
 * Messages of agents whose joining is not known yet. Of each agent the latest are kept, by itself: one that claims an
 * incarnation that never joins takes the room of no other.
 */

import type { Position } from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import { ownBytes } from '../iof/bytes.js';

const AGENTS_MAX = 64;
/** Of each agent. */
const MESSAGES_MAX = 64;
const BYTES_MAX = 64 * 1024;

export class EarlyMessages {
  /** Encoded: what they are decoded to may be many times as large. The agent that was heard last is the last. */
  readonly #kept = new Map<Position, Uint8Array[]>();

  /** Of all agents. */
  get bytes(): number {
    return [...this.#kept.values()].flat().reduce((sum, { length }) => sum + length, 0);
  }

  keep(from: Position, message: unknown): void {
    const own = this.#kept.get(from) ?? [];
    own.push(ownBytes(encode(message)));
    let bytes = own.reduce((sum, { length }) => sum + length, 0);
    while (own.length > MESSAGES_MAX || bytes > BYTES_MAX) bytes -= (own.shift() as Uint8Array).length;
    this.#kept.delete(from);
    this.#kept.set(from, own);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > AGENTS_MAX) this.#kept.delete(oldest);
  }

  /** All, those of each agent in order. */
  take(): (readonly [from: Position, message: unknown])[] {
    const all = [...this.#kept];
    this.#kept.clear();
    return all.flatMap(([from, own]) => own.map((message) => [from, decode(message)] as const));
  }
}
