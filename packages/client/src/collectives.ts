/**
 * What the ranks of the group do together. Each collective is one vote to the session agent, which the controller
 * decides; reductions combine values by messages before it. Calls are carried out one after the other.
 */

import {
  PROGRAM_PART_BYTES_MAX, ranksInRanges, type Agreed, type CollectiveKind, type Form, type PartHead,
  type ProgramErrorCode, type ProgramEvent,
} from '@stci/interface';
import type { Calls } from './calls.js';
import type { Combine, Group } from './contracts.js';
import { ClientError, errorOfCall } from './errors.js';
import type { Messages } from './messages.js';
import { childrenOf, decodeError, encodeError, reduceInTree, type Reduced } from './reduce-tree.js';
import { decodeValue, encodeValue, type Encoded } from './values.js';

export interface CollectivesInit {
  readonly calls: Calls;
  readonly messages: Messages;
  readonly rank: number;
  readonly size: number;
  readonly attempt: number;
  /** What a result says of ranks is known before it resolves. */
  onAgreed(agreed: Agreed): void;
}

interface Part {
  readonly rank: number;
  readonly encoded: Encoded;
}

interface Decided {
  readonly agreed: Agreed;
  readonly parts: readonly Part[];
}

interface Vote {
  readonly kind: CollectiveKind;
  readonly flag?: boolean;
  readonly root?: number;
  readonly encoded?: Encoded;
}

type AgreedEvent = Extract<ProgramEvent, { readonly type: 'agreed' }>;

/**
 * How long a reduction that waits for values is silent. Then it votes without a result, so that the controller knows
 * of it and refuses what other ranks call beside it; if all have called it, they vote again with the result. So only
 * reductions that last longer have a second vote.
 */
const SILENT_MS = 200;

const NOTHING: Encoded = { form: 'bytes', bytes: new Uint8Array() };

export class Collectives {
  readonly #init: CollectivesInit;
  #group: Group;
  /** The one before, whatever became of it. */
  #last: Promise<unknown> = Promise.resolve();
  /** The vote that waits for its decision. */
  #open: { resolve(event: AgreedEvent, bytes: Uint8Array): void; reject(error: ClientError): void } | undefined;
  #count = 0;
  /** The decisions of the job, as far as this rank knows. */
  #decided = 0;
  /** Ends the waits for messages of a reduction that was refused. */
  #clearing = new AbortController();
  /** Messages of reductions that failed, which may still come: they are taken away at the next `shrink`. */
  #left: (readonly [from: number, tag: string])[] = [];

  constructor(init: CollectivesInit) {
    this.#init = init;
    const { rank, size, attempt } = init;
    // A rank that was started again does not know yet where the others are.
    this.#group = attempt === 1
      ? { rank, size, ranks: Array.from({ length: size }, (_, i) => i) }
      : { rank: -1, size: 0, ranks: [] };
  }

  get group(): Group {
    return this.#group;
  }

  agree(flag: boolean): Promise<Agreed> {
    return this.#next('agree', async (name) => (await this.#vote(name, { kind: 'agree', flag })).agreed);
  }

  shrink(): Promise<Group> {
    return this.#next('shrink', async (name) => {
      const { agreed } = await this.#vote(name, { kind: 'shrink' });
      const ranks = ranksInRanges(agreed.ranks);
      this.#group = { rank: ranks.indexOf(this.#init.rank), size: ranks.length, ranks };
      const left = this.#left.splice(0);
      await Promise.all(left.map(([from, tag]) => this.#init.messages.discard(from, tag)));
      return this.#group;
    });
  }

  async barrier(): Promise<void> {
    await this.#next('barrier', (name) => this.#vote(name, { kind: 'barrier' }));
  }

  async exchange(): Promise<void> {
    await this.#next('exchange', (name) => this.#vote(name, { kind: 'exchange' }));
  }

  async broadcast(value: unknown, root: number): Promise<unknown> {
    const parts = await this.#share('broadcast', root, () =>
      root === this.#init.rank ? encodeValue('broadcast()', value, PROGRAM_PART_BYTES_MAX) : NOTHING);
    return decodeValue(parts[0]?.encoded ?? NOTHING);
  }

  async gather(value: unknown, root: number): Promise<unknown[] | undefined> {
    const parts = await this.#share('gather', root, () => encodeValue('gather()', value, PROGRAM_PART_BYTES_MAX));
    return root === this.#init.rank ? parts.map((part) => decodeValue(part.encoded)) : undefined;
  }

  async allGather(value: unknown): Promise<unknown[]> {
    const parts = await this.#share('allGather', 0, () => encodeValue('allGather()', value, PROGRAM_PART_BYTES_MAX));
    return parts.map((part) => decodeValue(part.encoded));
  }

  async reduce<T>(value: T, combine: Combine<T>, root: number): Promise<T | undefined> {
    const parts = await this.#reduce('reduce', value, combine, root);
    return root === this.#init.rank ? (decodeValue(this.#first(parts)) as T) : undefined;
  }

  async allReduce<T>(value: T, combine: Combine<T>): Promise<T> {
    const root = this.#group.ranks[0] ?? 0;
    return decodeValue(this.#first(await this.#reduce('allReduce', value, combine, root))) as T;
  }

  /** The decision on the vote that waits. False: none does. */
  onAgreed(event: AgreedEvent, bytes: Uint8Array): boolean {
    const open = this.#open;
    if (open === undefined) return false;
    this.#open = undefined;
    open.resolve(event, bytes);
    return true;
  }

  end(error: ClientError): void {
    this.#open?.reject(error);
    this.#open = undefined;
  }

  /** The part of the first of the group. */
  #first(parts: readonly Part[]): Encoded {
    return parts.find(({ rank }) => rank === this.#group.ranks[0])?.encoded ?? NOTHING;
  }

  /** A rank whose value cannot be sent takes part and says so: the call fails at all, and the next ones still meet. */
  #share(of: 'broadcast' | 'gather' | 'allGather', root: number, encode: () => Encoded): Promise<readonly Part[]> {
    const kind = of === 'allGather' ? 'allgather' : of;
    let encoded = NOTHING;
    let problem: ClientError | undefined;
    try {
      encoded = encode();
    } catch (fault) {
      problem = fault as ClientError;
    }
    return this.#next(of, async (name) => {
      const vote = this.#vote(name, { kind, root, flag: problem === undefined, encoded });
      if (problem === undefined) return (await vote).parts;
      await vote.catch((error: ClientError) => {
        if (error.code !== 'STCI_CLIENT_LIMIT') throw error;
      });
      throw problem;
    });
  }

  /**
   * The values are combined by messages, to the first of the group; all learn whether that went well. A vote of the
   * first without a result or an error says that it still waits; the votes of the others say what they called.
   */
  #reduce<T>(
    of: 'reduce' | 'allReduce', value: T, combine: Combine<T>, root: number,
  ): Promise<readonly Part[]> {
    return this.#next(of, async (name) => {
      const { messages } = this.#init;
      const ending = new AbortController();
      // The number is the same at all, whatever was refused before, and whoever was started again.
      const tag = `_r.${this.#decided + 1}`;
      const { group, signal } = { group: this.#group, signal: ending.signal };
      const tree = messages.holding(reduceInTree({ name, messages, group, tag, value, combine, signal }));
      void tree.then(({ left }) => this.#left.push(...left));
      const vote = (reduced: Reduced | undefined): Promise<Decided> => {
        const kind = of === 'reduce' ? 'reduce' : 'allreduce';
        if (group.rank !== 0) return this.#vote(name, { kind, root, flag: reduced?.error === undefined });
        // Errors come up the tree, so that the first has that of any rank, and tells it.
        const encoded = reduced === undefined ? NOTHING : (reduced.result ?? encodeError(reduced.error));
        return this.#vote(name, { kind, root, flag: reduced?.result !== undefined, encoded });
      };
      try {
        let reduced = await within(SILENT_MS, tree);
        let { agreed, parts } = await vote(reduced);
        if (!agreed.flag && this.#first(parts).bytes.length === 0) {
          reduced = await tree;
          ({ agreed, parts } = await vote(reduced));
        }
        if (agreed.flag) return parts;
        throw reduced?.error ?? decodeError(this.#first(parts), name);
      } finally {
        ending.abort();
      }
    });
  }

  /** Carries out a collective after those before it. `name`: for messages. */
  #next<T>(of: string, run: (name: string) => Promise<T>): Promise<T> {
    this.#count += 1;
    const name = `${of}(), the ${ordinal(this.#count)} collective`;
    const turn = this.#last.then(() => run(name));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Takes away what comes of a reduction that others called at this place: large values would be in the way. */
  #clear(name: string): void {
    const { rank, ranks } = this.#group;
    this.#clearing.abort();
    this.#clearing = new AbortController();
    for (const child of childrenOf(rank, ranks.length)) {
      const from = ranks[child] as number;
      const taken = this.#init.messages.take(from, `_r.${this.#decided}`, name, this.#clearing.signal);
      void taken.catch(() => undefined); // None was sent, or its sender has ended.
    }
  }

  async #vote(name: string, { kind, flag = true, root = 0, encoded = NOTHING }: Vote): Promise<Decided> {
    const { calls, onAgreed } = this.#init;
    if (this.#group.rank < 0 && kind !== 'shrink') {
      const text = `${name}: this rank was started again; it takes part from its first shrink() on`;
      throw new ClientError('STCI_CLIENT_MISMATCH', text);
    }
    const { form, bytes } = encoded;
    calls.hold();
    try {
      const [event, body] = await new Promise<[AgreedEvent, Uint8Array]>((resolve, reject) => {
        calls.send({ type: 'vote', kind, flag, root, form }, bytes);
        this.#open = { resolve: (...answer) => resolve(answer), reject: (error) => reject(errorOfCall(name, error)) };
      });
      this.#decided = event.decided;
      onAgreed(event.agreed);
      if (event.code === 'STCI_CLIENT_MISMATCH') this.#clear(name);
      if (event.code !== '') throw new ClientError(event.code as ProgramErrorCode, `${name}: ${event.reason}`);
      return { agreed: event.agreed, parts: partsOf(event.parts, body) };
    } finally {
      calls.release();
    }
  }
}

function partsOf(heads: readonly PartHead[], bytes: Uint8Array): Part[] {
  let at = 0;
  return heads.map(([rank, length, form]: readonly [number, number, Form]) => {
    const part = bytes.slice(at, at + length);
    at += length;
    return { rank, encoded: { form, bytes: part } };
  });
}

/** What it gives; undefined if it takes longer. It does not reject. */
function within<T>(ms: number, wait: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined);
    void wait.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

/** 1st, 2nd, 3rd, 4th, 11th, 21st. */
function ordinal(number: number): string {
  const isTeen = Math.trunc(number / 10) % 10 === 1;
  const end = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${number}${end}`;
}
