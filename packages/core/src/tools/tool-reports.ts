/** What a session agent tells the controller of its tools: starts and ends, those of one turn together. */

import { CONTROLLER, type HostIndex, type Rank } from '@stci/interface';
import { encode } from '../codec/cbor.js';
import type { MessageBody } from '../messages/messages.js';
import type { Metrics } from '../metrics/contracts.js';
import type { AgentNode } from '../node/node.js';
import type { Tool, ToolEnd } from './tool.js';

/** Part of the largest message that such ends have; the rest is of heads. */
const FOLLOWED_PART = 0.9;

/** An attempt that another one follows, of this agent or, with `moves`, of the one that the controller chooses. */
type FollowedEnd = ToolEnd & { readonly afterMs: number; readonly moves?: true };

export interface ToolReportsInit {
  readonly node: Pick<AgentNode, 'messages' | 'params'>;
  readonly host: HostIndex;
  readonly hostName: string;
  readonly metrics: Metrics;
  /** Calls back once other agents have been told what is more urgent. */
  afterNews(call: () => void): void;
}

export class ToolReports {
  readonly #init: ToolReportsInit;
  #started: (readonly [Rank, number, number])[] = [];
  #followed: FollowedEnd[] = [];
  #followedBytes = 0;
  #ended: ToolEnd[] = [];
  /** Messages with followed ends so far, and how many of them the controller has answered. */
  #count = 0;
  #noted = 0;
  #isScheduled = false;
  #isSilent = false;

  constructor(init: ToolReportsInit) {
    this.#init = init;
  }

  started({ rank, pid, startWallMs }: Tool): void {
    this.#started.push([rank, pid, startWallMs]);
    this.#schedule();
  }

  ended(end: ToolEnd): void {
    if (this.#isSilent) return;
    this.#ended.push(this.#withHost(end));
    this.#schedule();
  }

  /** Returns the number of the message that tells it. */
  followed(end: ToolEnd, afterMs: number, moves?: true): number {
    this.#init.metrics.count('restarts', 1);
    const followed = { ...this.#withHost(end), afterMs, ...(moves && { moves }) };
    const bytes = encode(followed).length;
    // Each message has its answer, and those of a list that is sent in several would not be known.
    if (this.#followedBytes + bytes > this.#init.node.params.int('message.bytes.max') * FOLLOWED_PART) this.flush();
    this.#followed.push(followed);
    this.#followedBytes += bytes;
    this.#schedule();
    return this.#count + 1;
  }

  onNoted(): void {
    this.#noted += 1;
  }

  /** Whether the controller has answered the message of this number. */
  isNoted(number: number): boolean {
    return number <= this.#noted;
  }

  /** Nothing is left of the tools. */
  drained(drained: Omit<MessageBody<'job.drained'>, 'host'>): void {
    const { node: { messages }, host } = this.#init;
    this.flush();
    if (!this.#isSilent) messages.send(CONTROLLER, 'job.drained', { host, ...drained });
  }

  /** The agent ends before its job: its loss explains the ends of its ranks, which are not told. */
  silence(): void {
    this.#isSilent = true;
  }

  /** The start of a rank is told before its output. */
  flushStarted(): void {
    const { node: { messages }, host } = this.#init;
    if (this.#started.length === 0) return;
    messages.sendList(CONTROLLER, 'job.started', this.#started.splice(0), (ranks) => ({ host, ranks }));
  }

  /** The end of an attempt is told before the start of the next. */
  flushFollowed(): void {
    if (this.#followed.length > 0) this.flush();
  }

  /** A thousand short tools need a few messages. */
  flush(): void {
    this.#isScheduled = false;
    const { node: { messages }, host } = this.#init;
    this.flushStarted();
    if (this.#followed.length > 0) {
      this.#count += 1;
      this.#followedBytes = 0;
      messages.send(CONTROLLER, 'job.restarting', { host, ranks: this.#followed.splice(0) as never });
    }
    if (this.#ended.length > 0) {
      const bodyOf = (ranks: readonly ToolEnd[]): never => ({ host, ranks }) as never;
      messages.sendList(CONTROLLER, 'job.exited', this.#ended.splice(0), bodyOf);
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#init.afterNews(() => this.flush());
  }

  #withHost(end: ToolEnd): ToolEnd {
    return end.error === undefined ? end : { ...end, error: { ...end.error, host: this.#init.hostName } };
  }
}
