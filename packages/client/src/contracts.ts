/** What a program gets from `connect`: the whole interface of the client library. */

/** Ranks that were lost together. */
export interface Loss {
  readonly ranks: readonly number[];
  /** For people: `it was ended by SIGKILL`. */
  readonly reason: string;
  /** Where they ran; '' if that is not known. */
  readonly host: string;
}

/** The same for every rank that gets it. */
export interface Agreement {
  /** All ranks that took part gave true. */
  readonly flag: boolean;
  /** All ranks lost so far, in ascending order. */
  readonly failed: readonly number[];
}

/** The ranks of collectives: all of the job at first, the survivors after `shrink`; the same for all of them. */
export interface Group {
  /** This rank's place among them, from 0; −1 in a rank that was started again, until its first `shrink`. */
  readonly rank: number;
  readonly size: number;
  /** Ranks of the members in the job, by place, ascending. */
  readonly ranks: readonly number[];
}

export interface Watchdog {
  /** A sign of life. Cheap: called more often than needed, it does nothing. */
  alive(): void;
  /** Takes the promise back. */
  stop(): void;
}

export interface Message {
  /** The rank that sent it. */
  readonly from: number;
  readonly tag: string;
  /** Bytes as a Uint8Array, a string, or what JSON makes of it. */
  readonly value: unknown;
}

export interface SendOptions {
  /** 1 to 64 printable ASCII characters without space, not beginning with `_`. Default: `default`. */
  readonly tag?: string;
}

export interface ReceiveOptions {
  /** Only of this rank. Default: of any. */
  readonly from?: number;
  /** Only with this tag. Default: with any that does not begin with `_`. */
  readonly tag?: string;
  /** Longest wait, ms, 0 to a day; 0: what is there. Default: for ever. */
  readonly waitMs?: number;
  /** Ends the wait: rejects with its reason. */
  readonly signal?: AbortSignal;
}

export interface HostRanks {
  readonly name: string;
  /** Ascending. */
  readonly ranks: readonly number[];
}

export interface TopologyOptions {
  /** Number of positions. Default: size of the group. */
  readonly size?: number;
  /** Whose neighbours. Default: this rank's place in the group. */
  readonly position?: number;
  /** Root of the spanning tree that parent and children are of. Default: 0. */
  readonly root?: number;
}

/** What a topology says of one position; positions are 0 to size − 1. */
export interface TopologyPlace {
  /** Ascending. */
  readonly neighbours: readonly number[];
  /** In the spanning tree; undefined for its root. */
  readonly parent: number | undefined;
  readonly children: readonly number[];
  /** Largest number of hops between two positions. */
  readonly diameter: number;
  /** The neighbour towards another position; undefined for its own. */
  nextHop(target: number): Promise<number | undefined>;
}

/** Makes one value of two; associative. `left` is of lower ranks than `right`. May be asynchronous. */
export type Combine<T> = (left: T, right: T) => T | Promise<T>;

export interface StreamOptions<T> {
  /** As for `topology()`. Default: `tree`. */
  readonly topology?: string;
  /** Place in the group of the stream's root. Default: 0. */
  readonly root?: number;
  /**
   * Names the stream: the n-th `openStream` with a tag belongs to the n-th of every other rank. As of `send`, of at
   * most 50 characters.
   */
  readonly tag: string;
  /** Of `reduce`. Default: it throws. */
  readonly combine?: Combine<T>;
}

/**
 * Down from the root to all others of the group, and up again, along a topology's spanning tree. When a rank of it is
 * lost, the calls of all that need it reject with STCI_CLIENT_RANK_LOST or STCI_CLIENT_RANK_ENDED.
 */
export interface Stream<T> extends AsyncIterable<unknown> {
  /** Sends to all others; at the root. Resolves when the agents of the ranks below have it. */
  multicast(value: unknown): Promise<void>;
  /** The root's next value; at all others. */
  receive(): Promise<unknown>;
  /** The n-th values of all are combined, in the order of the tree; at the root, it resolves to the result. */
  reduce(value: T): Promise<T | undefined>;
  close(): void;
}

/**
 * Collectives (`agree`, `shrink`, `barrier`, `broadcast`, `gather`, `allGather`, `reduce`, `allReduce`, `exchange`) are
 * called by all ranks of the group, in the same order; those called at once are carried out one after the other.
 * `agree` and `shrink` go on without ranks that are lost. The others reject at every rank that calls them, once a rank
 * of the group is lost (STCI_CLIENT_RANK_LOST) or has ended well (STCI_CLIENT_RANK_ENDED) without its part, until the
 * next `shrink`. A rank that was started again first calls `shrink`, and takes part from the next one of the others on.
 * All reject with ClientError. A value that is too large at one rank fails the collective at all, with
 * STCI_CLIENT_LIMIT.
 */
export interface Client {
  readonly rank: number;
  /** Ranks of the job. */
  readonly size: number;
  readonly job: number;
  /** 1, 2, …: how often this rank was started. */
  readonly attempt: number;
  /** Name of its host. */
  readonly host: string;
  readonly group: Group;
  /** Where all ranks run, in the order of hosts. */
  hosts(): Promise<HostRanks[]>;

  /** Called for every loss from now on, before a result that counts it resolves. Returns what ends that. */
  onFailure(call: (loss: Loss) => void): () => void;
  /** Called for ranks that end well. Returns what ends that. */
  onEnded(call: (ranks: readonly number[]) => void): () => void;
  /** Called for lost ranks that take part again, before the `shrink` resolves with which they do. */
  onRestarted(call: (ranks: readonly number[]) => void): () => void;
  /** Ranks lost so far, as far as this one knows, in ascending order. */
  failed(): number[];

  /**
   * To a rank of the job. Resolves when the receiver's agent has it, which takes no more while too much waits there.
   * Messages of one rank to another are received in the order of their sends. At most 8 MiB. Rejects with
   * STCI_CLIENT_RANK_LOST or STCI_CLIENT_RANK_ENDED where the receiver has ended.
   */
  send(to: number, value: unknown, options?: SendOptions): Promise<void>;
  /**
   * The next message that fits. Rejects with STCI_CLIENT_TIMEOUT after `waitMs`; with STCI_CLIENT_RANK_LOST or
   * STCI_CLIENT_RANK_ENDED where all that could send it have ended.
   */
  receive(options?: ReceiveOptions): Promise<Message>;
  /** Calls `handler` for each message with this tag, one after the other. Returns what ends that. */
  onMessage(tag: string, handler: (message: Message) => unknown): () => void;

  /** Waits for the flags of all ranks that run; those that end meanwhile are not awaited. */
  agree(flag: boolean): Promise<Agreement>;
  /** Waits for all ranks that run, and makes those that are left the group. */
  shrink(): Promise<Group>;
  /** Waits until all of the group have called it. */
  barrier(): Promise<void>;
  /** The value of rank `root`, at all; those of the others are ignored. At most 1 MiB. */
  broadcast(value: unknown, root?: number): Promise<unknown>;
  /** The values of all by place, at rank `root`; elsewhere undefined. Each at most 1 MiB, all 4 MiB. */
  gather(value: unknown, root?: number): Promise<unknown[] | undefined>;
  /** The values of all by place, at all. Each at most 1 MiB, all 4 MiB. */
  allGather(value: unknown): Promise<unknown[]>;
  /** All values combined in the order of places, at rank `root`; elsewhere undefined. The result: at most 1 MiB. */
  reduce<T>(value: T, combine: Combine<T>, root?: number): Promise<T | undefined>;
  /** All values combined in the order of places, at all. The result: at most 1 MiB. */
  allReduce<T>(value: T, combine: Combine<T>): Promise<T>;

  /**
   * Puts a value under a key of 1 to 256 printable ASCII characters without space; all get it after the next
   * `exchange`. At most 1 MiB.
   */
  put(key: string, value: unknown): Promise<void>;
  /**
   * Tells all what was put since the last one. A key that two ranks have put: STCI_CLIENT_DUPLICATE at all, and
   * nothing is told; one that was told before gets its new value.
   */
  exchange(): Promise<void>;
  /** undefined: no exchange has told it. */
  get(key: string): Promise<unknown>;

  /** What a topology of any kind says of a position, as `mesh` does; rejects with STCI_CLIENT_TOPOLOGY. */
  topology(spec: string, options?: TopologyOptions): Promise<TopologyPlace>;
  /** All of the group open it, and several at once have different tags. */
  openStream<T = unknown>(options: StreamOptions<T>): Promise<Stream<T>>;

  /** Promises a sign of life within this time, again and again; a rank that breaks it counts as failed. */
  watchdog(withinMs: number): Watchdog;
  /**
   * Tells experiments that the program has come to a point that they know by this name: 1 to 256 printable ASCII
   * characters. At most 100 in a second and 10 000 in all: more throw STCI_CLIENT_LIMIT.
   */
  mark(name: string): void;
  /** Ends the connection; calls that wait are rejected. */
  close(): void;
}
