/**
 * Records of failures, at the controller, as they are told: each when it is due, and all that concern a job before the
 * job is over. Agents tell at leisure when they have heard of a failure; before a job is over they are asked to.
 */

import type { FailedSubject, Evidence, FailureRecord } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { AgentOfJob } from '../messages/collected.js';
import type { AgentNode } from '../node/node.js';
import { FailureRecords } from './records.js';

/** A job waits so long at most for an agent that does not answer. */
export const ENDING_MS = 300;

type IsMeant = (subject: FailedSubject) => boolean;

export interface FailureLogInit {
  readonly node: AgentNode;
  /** Of the session: at its end what is recorded is told. */
  readonly holds: Scope;
  /** Root agents that live and are told of failures. */
  agents(): readonly AgentOfJob[];
  onRecord(record: FailureRecord): void;
}

export class FailureLog {
  readonly #init: FailureLogInit;
  readonly records = new FailureRecords();
  /** Jobs that wait to be over. */
  readonly #endings = new Set<() => void>();
  readonly #timers: Timers<'due'>;

  constructor(init: FailureLogInit) {
    this.#init = init;
    this.#timers = new Timers(init.node.platform.clock, init.holds);
    init.holds.atEnd(() => {
      for (const end of [...this.#endings]) end();
      this.flush(() => true);
    });
  }

  /** As FailureRecords.add. */
  add(notice: Evidence, hostName: string, isProvisional = false): void {
    this.records.add(notice, hostName, this.#nowMs, isProvisional);
    this.flush();
  }

  /** It is decided that it is one. */
  release(subject: FailedSubject): void {
    this.records.release(subject, this.#nowMs);
    this.flush();
  }

  /** Tells what is due, and the records that `isDue` accepts. */
  flush(isDue: IsMeant = () => false): void {
    for (const record of this.records.take(this.#nowMs, isDue)) this.#init.onRecord(record);
    this.#timers.clear('due');
    const { dueMs } = this.records;
    if (dueMs !== undefined) this.#timers.set('due', Math.max(0, dueMs - this.#nowMs), () => this.flush());
  }

  /** Calls `done` when those that `isDue` accepts are told. `isSpread`: all agents are told of the failure. */
  onEnding(isDue: IsMeant, isSpread: IsMeant, done: () => void): void {
    const agents = this.#init.agents();
    const end = (): void => {
      if (!this.#endings.delete(end)) return;
      this.flush(isDue);
      done();
    };
    this.#endings.add(end);
    const isAwaited = this.records.isAwaited((subject) => isDue(subject) && isSpread(subject), agents.length);
    if (this.#init.holds.isClosed || !isAwaited) return end();
    this.#init.node.collects.ask('failure.told', agents, {
      withinMs: ENDING_MS,
      onEach: (seen, [agent]) => seen.forEach(([id, wallMs]) => this.records.seen(id, agent, wallMs)),
      onDone: end,
    });
  }

  get #nowMs(): number {
    return this.#init.node.platform.clock.nowMs();
  }
}
