/** The client of one rank: what is told by the session agent, and the parts that make the calls. */

import {
  MARKS_MAX, MARKS_PER_SECOND_MAX, MARK_CHARS_MAX, PROGRAM_PART_BYTES_MAX, WATCHDOG_MS_MAX, ranksInRanges, type Agreed,
  type Form, type LostRanks, type ProgramEvent,
} from '@stci/interface';
import type { AgentLink } from './agent-socket.js';
import { Calls } from './calls.js';
import { checkFunction, checkInteger, checkKey, checkOptions, checkRank, checkTag } from './checks.js';
import { Collectives } from './collectives.js';
import type {
  Agreement, Client, Combine, Group, HostRanks, Loss, Message, ReceiveOptions, SendOptions, Stream, StreamOptions,
  TopologyOptions, TopologyPlace, Watchdog,
} from './contracts.js';
import { ClientError, argumentError } from './errors.js';
import { Messages } from './messages.js';
import { STREAM_TAG_CHARS_MAX, TreeStream } from './streams.js';
import { decodeValue, encodeValue } from './values.js';

type Welcome = Pick<Client, 'rank' | 'size' | 'job' | 'attempt' | 'host'>;

type TopologyEvent = Extract<ProgramEvent, { readonly type: 'topology' }>;

/** Part of the promised time in which a further sign of life is not sent; the promise is made longer by it. */
const QUIET_PART = 1 / 4;
const SECOND_MS = 1000;

/** Positions of a topology that a program asks about. */
const POSITIONS_MAX = 0x1000_0000;

export class ProgramClient implements Client {
  readonly rank: number;
  readonly size: number;
  readonly job: number;
  readonly attempt: number;
  readonly host: string;
  readonly #link: AgentLink;
  readonly #calls: Calls;
  readonly #messages: Messages;
  readonly #collectives: Collectives;
  readonly #failed = new Set<number>();
  readonly #onFailure = new Set<(loss: Loss) => void>();
  readonly #onEnded = new Set<(ranks: readonly number[]) => void>();
  readonly #onRestarted = new Set<(ranks: readonly number[]) => void>();
  /** How many streams have been opened with a tag. */
  readonly #streams = new Map<string, number>();
  #marks = 0;
  /** When the marks of the last second were made. */
  readonly #marked: number[] = [];

  constructor({ rank, size, job, attempt, host }: Welcome, link: AgentLink) {
    this.rank = rank;
    this.size = size;
    this.job = job;
    this.attempt = attempt;
    this.host = host;
    this.#link = link;
    this.#calls = new Calls(link);
    this.#messages = new Messages(this.#calls, rank, size);
    this.#collectives = new Collectives({
      calls: this.#calls, messages: this.#messages, rank, size, attempt,
      onAgreed: (agreed) => this.#onAgreed(agreed),
    });
  }

  get group(): Group {
    return this.#collectives.group;
  }

  async hosts(): Promise<HostRanks[]> {
    const { event } = await this.#calls.call({ type: 'hosts' }, { name: 'hosts()' });
    const { hosts } = event as Extract<ProgramEvent, { readonly type: 'hosts' }>;
    return hosts.map(([name, ranges]) => ({ name, ranks: ranksInRanges(ranges) }));
  }

  onFailure(call: (loss: Loss) => void): () => void {
    return listen(this.#onFailure, 'onFailure()', call);
  }

  onEnded(call: (ranks: readonly number[]) => void): () => void {
    return listen(this.#onEnded, 'onEnded()', call);
  }

  onRestarted(call: (ranks: readonly number[]) => void): () => void {
    return listen(this.#onRestarted, 'onRestarted()', call);
  }

  failed(): number[] {
    return [...this.#failed].sort((a, b) => a - b);
  }

  send(to: number, value: unknown, options?: SendOptions): Promise<void> {
    return this.#messages.send(to, value, options);
  }

  receive(options?: ReceiveOptions): Promise<Message> {
    return this.#messages.receive(options);
  }

  onMessage(tag: string, handler: (message: Message) => unknown): () => void {
    return this.#messages.onMessage(tag, handler);
  }

  async agree(flag: boolean): Promise<Agreement> {
    if (typeof flag !== 'boolean') throw argumentError(`agree(${String(flag)})`, 'not a boolean');
    const agreed = await this.#collectives.agree(flag);
    return { flag: agreed.flag, failed: ranksInRanges(agreed.failed) };
  }

  shrink(): Promise<Group> {
    return this.#collectives.shrink();
  }

  barrier(): Promise<void> {
    return this.#collectives.barrier();
  }

  async broadcast(value: unknown, root = this.#first): Promise<unknown> {
    return this.#collectives.broadcast(value, this.#root('broadcast()', root));
  }

  async gather(value: unknown, root = this.#first): Promise<unknown[] | undefined> {
    return this.#collectives.gather(value, this.#root('gather()', root));
  }

  allGather(value: unknown): Promise<unknown[]> {
    return this.#collectives.allGather(value);
  }

  async reduce<T>(value: T, combine: Combine<T>, root = this.#first): Promise<T | undefined> {
    checkFunction('reduce()', combine);
    return this.#collectives.reduce(value, combine, this.#root('reduce()', root));
  }

  async allReduce<T>(value: T, combine: Combine<T>): Promise<T> {
    checkFunction('allReduce()', combine);
    return this.#collectives.allReduce(value, combine);
  }

  async put(key: string, value: unknown): Promise<void> {
    const name = 'put()';
    const { form, bytes } = encodeValue(name, value, PROGRAM_PART_BYTES_MAX);
    await this.#calls.call({ type: 'put', key: checkKey(name, key), form }, { bytes, name });
  }

  exchange(): Promise<void> {
    return this.#collectives.exchange();
  }

  async get(key: string): Promise<unknown> {
    const name = 'get()';
    const { event, bytes } = await this.#calls.call({ type: 'get', key: checkKey(name, key) }, { name });
    const { found, form } = event as { readonly found: boolean; readonly form: Form } & typeof event;
    return found ? decodeValue({ form, bytes }) : undefined;
  }

  async topology(spec: string, options: TopologyOptions = {}): Promise<TopologyPlace> {
    const name = 'topology()';
    checkOptions(name, options, ['size', 'position', 'root']);
    const size = checkInteger(name, 'size', options.size ?? this.group.size, 1, POSITIONS_MAX);
    const position = checkInteger(name, 'position', options.position ?? this.group.rank, 0, size - 1);
    const root = checkInteger(name, 'root', options.root ?? 0, 0, size - 1);
    if (typeof spec !== 'string') throw argumentError(name, `expected the name of a topology, got ${String(spec)}`);
    const ask = async (target?: number): Promise<TopologyEvent> => {
      const { event } = await this.#calls.call({ type: 'topology', spec, size, position, root, target }, { name });
      return event as TopologyEvent;
    };
    const { neighbours, parent, children, diameter } = await ask();
    return {
      neighbours, children, diameter,
      parent: parent < 0 ? undefined : parent,
      nextHop: async (target) => {
        const { next = -1 } = await ask(checkInteger('nextHop()', 'a position', target, 0, size - 1));
        return next < 0 ? undefined : next;
      },
    };
  }

  async openStream<T = unknown>(options: StreamOptions<T>): Promise<Stream<T>> {
    checkOptions('openStream()', options, ['topology', 'root', 'tag', 'combine']);
    const { topology = 'tree', root = 0, tag, combine } = options;
    checkTag('openStream()', tag, STREAM_TAG_CHARS_MAX);
    if (combine !== undefined) checkFunction('openStream()', combine);
    const count = 1 + (this.#streams.get(tag) ?? 0);
    this.#streams.set(tag, count);
    const { group } = this;
    const { parent, children } = await this.topology(topology, { root, size: group.size, position: group.rank });
    const label = `${count}.${tag}`;
    return new TreeStream({ messages: this.#messages, group, label, parent, children, combine });
  }

  watchdog(withinMs: number): Watchdog {
    const longestMs = WATCHDOG_MS_MAX / (1 + QUIET_PART);
    if (!Number.isInteger(withinMs) || withinMs < 1 || withinMs > longestMs) {
      throw argumentError(`watchdog(${withinMs})`, `not an integer in 1..${longestMs}, in ms`);
    }
    const promisedMs = Math.ceil(withinMs * (1 + QUIET_PART));
    let sentMs = -Infinity;
    const say = (ms: number): void => void (this.#calls.closed ?? this.#calls.send({ type: 'alive', withinMs: ms }));
    const alive = (): void => {
      const nowMs = performance.now();
      if (nowMs - sentMs < withinMs * QUIET_PART) return;
      sentMs = nowMs;
      say(promisedMs);
    };
    alive();
    return { alive, stop: () => say(0) };
  }

  mark(name: string): void {
    if (this.#calls.closed !== undefined) throw this.#calls.closed;
    if (typeof name !== 'string' || name.length > MARK_CHARS_MAX || !/^[ -~]+$/u.test(name)) {
      throw argumentError('mark()', `expected a name of 1 to ${MARK_CHARS_MAX} printable ASCII characters`);
    }
    const nowMs = performance.now();
    while ((this.#marked[0] ?? nowMs) < nowMs - SECOND_MS) this.#marked.shift();
    if (this.#marked.length >= MARKS_PER_SECOND_MAX || this.#marks >= MARKS_MAX) {
      const text = `mark('${name}'): more than ${MARKS_PER_SECOND_MAX} marks in a second, or ${MARKS_MAX} in all`;
      throw new ClientError('STCI_CLIENT_LIMIT', text);
    }
    this.#marks += 1;
    this.#marked.push(nowMs);
    this.#calls.send({ type: 'mark', name });
  }

  close(): void {
    this.#end(new ClientError('STCI_CLIENT_CLOSED', 'The connection to the session agent was closed by close()'));
    this.#link.close();
  }

  onEvent(event: ProgramEvent, bytes: Uint8Array): void {
    if (this.#calls.closed !== undefined) return;
    if (event.type === 'failed') return this.#onLost(event.lost);
    if (event.type === 'ended') return tell(this.#onEnded, ranksInRanges(event.ranks));
    if (event.type === 'exit') process.exit(event.status); // An injected fault.
    const isKnown = event.type === 'agreed' ? this.#collectives.onAgreed(event, bytes)
      : 'id' in event && this.#calls.onAnswer(event, bytes);
    if (!isKnown) this.#link.destroy(event.type === 'refused' ? event.reason : 'the session agent broke the protocol');
  }

  onClosed(reason: string): void {
    this.#end(new ClientError('STCI_CLIENT_LOST', `The connection to the session agent ended: ${reason}.`));
  }

  get #first(): number {
    return this.group.ranks[0] ?? 0;
  }

  #root(call: string, root: number): number {
    if (typeof root !== 'number') checkInteger(call, 'the root, a rank,', root, 0, this.size - 1);
    checkRank(call, root, this.size);
    if (this.group.rank < 0 || this.group.ranks.includes(root)) return root;
    throw argumentError(call, `root ${root} is not in the group: it has ended, and shrink() went on without it`);
  }

  /** What it counts as lost is known before it resolves, and who takes part again is not lost. */
  #onAgreed({ joined, missing, failed }: Agreed): void {
    const again = ranksInRanges(joined);
    for (const rank of again) this.#failed.delete(rank);
    if (again.length > 0) {
      tell(this.#onRestarted, again);
      this.#messages.resume();
    }
    const isLost = (rank: number): boolean => failed.some(([first, last]) => first <= rank && rank <= last);
    this.#onLost(missing.filter(([rank]) => isLost(rank)));
    this.#onLost(failed.map(([first, last]) => [first, last, 'it is lost', '']));
  }

  #onLost(lost: readonly LostRanks[]): void {
    for (const range of lost) {
      const [, , reason, host] = range;
      const ranks = ranksInRanges([range]).filter((rank) => !this.#failed.has(rank));
      if (ranks.length === 0) continue;
      for (const rank of ranks) this.#failed.add(rank);
      tell(this.#onFailure, { ranks, reason, host });
    }
  }

  #end(error: ClientError): void {
    this.#calls.end(error);
    this.#collectives.end(error);
  }
}

function listen<T>(listeners: Set<(value: T) => void>, name: string, call: (value: T) => void): () => void {
  checkFunction(name, call);
  const listener = (value: T): void => call(value);
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function tell<T>(listeners: ReadonlySet<(value: T) => void>, value: T): void {
  for (const listener of listeners) listener(value);
}
