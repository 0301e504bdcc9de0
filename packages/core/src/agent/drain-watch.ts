/**
 * Drain watch: when all ranks of a job have ended, their hosts have only to say that nothing is left of them. That may
 * take as long as the reader of the output wants, so there is no deadline; but a host that has fallen silent (a crash,
 * a cut link) never says it. So the ones that are waited for are asked now and then whether they are there.
 */

import { sessionAddress, type HostIndex, type StciError, type Timer } from '@stci/interface';
import type { AgentNode } from './node.js';

/** From the end of the last rank to the first question, and from answers to the next. */
const PERIOD_MS = 5000;

/** How long an answer may take: it comes behind the output that is under way. */
const ANSWER_MS = 30_000;

/** Hosts that are asked at once. */
const ASKED_MAX = 64;

export class DrainWatch {
  readonly #node: AgentNode;
  readonly #hosts: ReadonlySet<HostIndex>;
  readonly #onSilent: (host: HostIndex, error: StciError) => void;
  #timer: Timer | undefined;
  #stopped = false;

  /** `hosts` are those that are waited for; the set is the caller's. */
  constructor(
    node: AgentNode,
    hosts: ReadonlySet<HostIndex>,
    onSilent: (host: HostIndex, error: StciError) => void,
  ) {
    this.#node = node;
    this.#hosts = hosts;
    this.#onSilent = onSilent;
  }

  /** May be called again and again. */
  start(): void {
    if (!this.#stopped) this.#timer ??= this.#node.platform.clock.after(PERIOD_MS, () => this.#ask());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #ask(): void {
    const { messages, platform } = this.#node;
    for (const host of [...this.#hosts].slice(0, ASKED_MAX)) {
      messages.request(sessionAddress(host), 'agent.echo', 0, (error) => this.#onAnswer(host, error), ANSWER_MS);
    }
    this.#timer = platform.clock.after(ANSWER_MS + PERIOD_MS, () => this.#ask());
  }

  /** Other errors than silence are found and reported where they happen. */
  #onAnswer(host: HostIndex, error: StciError | undefined): void {
    if (this.#stopped || error?.code !== 'STCI_REQUEST_TIMEOUT' || !this.#hosts.has(host)) return;
    this.#onSilent(host, error);
  }
}
