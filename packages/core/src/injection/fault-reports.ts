/**
 * Reports of injections to their front-end, at the controller. The invariant, which is kept here and nowhere else: of
 * each part of an order, and of an order that has no part because it is refused, there is exactly one end, and nothing
 * after it. Before the end there is at most one `injected`. The end is `undone`, `lapsed`, `failed` or `skipped`; of a
 * kind with nothing to undo it is `injected`, too. It comes, whatever dies, with what the agent says of it, with the
 * loss of the agent, with the end of its job, at the deadline of an answer, or with the end of the experiment or the
 * session, whichever is first.
 */

import {
  CONTROLLER, StciError, addressIndex, addressName, type Address, type Clock, type FaultReport,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import type { ExperimentOwner } from './fault-contracts.js';
import type { OpenOrder, OrderPart } from './fault-orders.js';

/** What an agent has undone by itself has lapsed if the controller is told so much later. */
const LATE_MS = 3000;
/** Of what a site says. */
const TEXT_CHARS_MAX = 2000;

export class FaultReports {
  readonly #clock: Clock;
  /** Of the experiment that runs. */
  readonly #owner: () => ExperimentOwner | undefined;

  constructor(clock: Clock, owner: () => ExperimentOwner | undefined) {
    this.#clock = clock;
    this.#owner = owner;
  }

  /** Throws STCI_MESSAGE_INVALID where a site says what it cannot after what it has said. */
  ofSite({ order: { id }, undoes }: OpenOrder, part: OrderPart, source: Address, report: FaultReport): void {
    const { state } = report;
    const isNext = part.said === 'injected' ? state !== 'injected' && state !== 'skipped' : part.said === undefined;
    if (!isNext) {
      const text = `Injection ${id} at ${part.name} cannot be ${state} after it was ${part.said}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    part.said = state;
    if (part.isGivenUp) return;
    part.state = state === 'injected' && undoes ? 'injected' : 'ended';
    // An agent speaks for itself alone.
    const host = source === CONTROLLER ? 0 : addressIndex(source);
    const told = { ...report, id, agent: addressName(source), host, text: report.text.slice(0, TEXT_CHARS_MAX) };
    const lateMs = this.#lateMs(part, report);
    if (lateMs <= LATE_MS) return this.#owner()?.onReport(told);
    const late = `its time was over, and the controller was told ${formatDuration(lateMs)} later`;
    this.#owner()?.onReport({ ...told, state: 'lapsed', text: late });
  }

  /** How much longer an undone fault was in force to the controller than to its agent, whose own link may be up. */
  #lateMs(part: OrderPart, { state, monotonicMs }: FaultReport): number {
    const hereMs = this.#clock.nowMs();
    if (state === 'injected') part.injected = { hereMs, thereMs: monotonicMs };
    if (state !== 'undone' || part.injected === undefined || part.isUndoing) return 0;
    return Math.round(hereMs - part.injected.hereMs - (monotonicMs - part.injected.thereMs));
  }

  /**
   * The controller tells the end of a part, where its agent has not: `texts` of one of which it is not known whether it
   * was in force, which has failed unless `state` says otherwise, and of one that was, which has lapsed.
   */
  end(
    { order: { id } }: OpenOrder, part: OrderPart, texts: readonly [ordered: string, injected: string],
    state: 'failed' | 'skipped' = 'failed',
  ): void {
    if (part.state === 'ended') return;
    const wasInForce = part.state === 'injected';
    part.state = 'ended';
    part.isGivenUp = true;
    const owner = this.#owner();
    if (owner !== undefined) this.tell(owner, id, wasInForce ? 'lapsed' : state, texts[wasInForce ? 1 : 0]);
  }

  tell(owner: ExperimentOwner, id: string, state: FaultReport['state'], text: string): void {
    const at = { wallMs: this.#clock.wallMs(), monotonicMs: this.#clock.nowMs() };
    owner.onReport({ id, agent: addressName(CONTROLLER), host: 0, state, text, ...at });
  }
}
