/**
 * Tools that are started again on their own host (the local recovery manager; STCI paper, II-F.4): when a tool has
 * failed, the local error manager decides at once, without the controller, which is told. The next attempt starts when
 * the pause is over and the last process and output of the one before have ended, so that output of attempts never
 * mixes. If the job ends before that, the attempt that failed was the rank's last.
 *
 * A rank is at most one start ahead of what the controller knows. It counts the starts of a rank, and starts it again
 * on another host when the agent is lost: what it did not know of would be allowed once more.
 *
 * A rank that fails soon after each start may do so for its host: after some such failures it leaves, and the
 * controller starts it again, on another host if one has room.
 */

import type { Clock, ErrorManager, HostIndex, Rank, Timer } from '@stci/interface';
import { failureOf } from '../job/exit-rule.js';
import type { Tool, ToolEnd } from './tool.js';

export interface ToolRestartsInit {
  readonly clock: Clock;
  readonly errorManager: ErrorManager;
  readonly host: { readonly index: HostIndex; readonly name: string };
  /** Makes the tool of a rank's next attempt, without starting it. */
  make(rank: Rank, attempt: number): Tool;
  /** So many failures of a rank, each so soon after its start, make it leave; 0: none does. */
  readonly leaves: { readonly failures: number; readonly quickMs: number };
  /** Another attempt follows. Returns the number of the report that tells it to the controller. */
  onRestarting(end: ToolEnd, afterMs: number): number;
  /** All of an attempt has ended, and the controller is to start the next one; `next` is not used. */
  onLeaving(former: Tool, next: Tool, end: ToolEnd, afterMs: number): void;
  /** It can be started now. */
  onDue(next: Tool): void;
  /** It is not started: this was the last end of its rank. */
  onGivenUp(end: ToolEnd): void;
}

interface Waiting {
  readonly next: Tool;
  readonly former: Tool;
  readonly end: ToolEnd;
  /** Undefined: the rank leaves. */
  readonly timer: Timer | undefined;
  readonly afterMs: number;
  /** The report that told the start of the former attempt; 0: none did. */
  readonly report: number;
  isDue: boolean;
  isGivenUp: boolean;
}

export class ToolRestarts {
  readonly #init: ToolRestartsInit;
  readonly #waiting = new Map<Rank, Waiting>();
  /** By rank, failures so far without another between them, each soon after its start. */
  readonly #quick = new Map<Rank, number>();
  /** By rank, the report of its last restart. */
  readonly #reports = new Map<Rank, number>();
  /** Reports that the controller has answered. */
  #noted = 0;

  constructor(init: ToolRestartsInit) {
    this.#init = init;
  }

  /** Whether tools may be started again at all. */
  get isOn(): boolean {
    return this.#init.errorManager.local !== undefined;
  }

  /** A tool has ended by itself. Returns whether its rank is started again. */
  onEnded(former: Tool, end: ToolEnd): boolean {
    const { clock, errorManager, host } = this.#init;
    const { rank, attempt } = former;
    const failure = failureOf(end, host, end.endWallMs);
    if (failure === undefined || errorManager.local === undefined) return false;
    const action = errorManager.local(failure, { of: 'tool', attempt });
    if (action.type !== 'restart') return false;
    const { afterMs } = action;
    const next = this.#init.make(rank, attempt + 1);
    const leaves = this.#leaves(former, end);
    const timer = leaves ? undefined : clock.after(afterMs, () => {
      waiting.isDue = true;
      this.#check(waiting);
    });
    const report = this.#reports.get(rank) ?? 0;
    const waiting: Waiting = { next, former, end, timer, afterMs, report, isDue: false, isGivenUp: false };
    this.#waiting.set(rank, waiting);
    if (leaves) this.#check(waiting);
    else this.#reports.set(rank, this.#init.onRestarting(end, afterMs));
    return true;
  }

  /** Whether the rank has failed so often, so soon, that it is to leave. */
  #leaves({ rank, startWallMs }: Tool, { endWallMs, outcome }: ToolEnd): boolean {
    const { failures, quickMs } = this.#init.leaves;
    const isQuick = outcome === 'failed-start' || endWallMs - startWallMs < quickMs;
    const count = isQuick ? 1 + (this.#quick.get(rank) ?? 0) : 0;
    this.#quick.set(rank, count);
    return failures > 0 && count >= failures;
  }

  /** The controller has answered the next report. */
  onNoted(): void {
    this.#noted += 1;
    for (const waiting of [...this.#waiting.values()]) if (waiting.report === this.#noted) this.#check(waiting);
  }

  /** All of a tool has ended. */
  onGone(tool: Tool): void {
    const waiting = this.#waiting.get(tool.rank);
    if (waiting?.former === tool) this.#check(waiting);
  }

  /** The next attempt is being started. */
  onStarting(tool: Tool): void {
    if (this.#waiting.get(tool.rank)?.next === tool) this.#waiting.delete(tool.rank);
  }

  /** Whether a tool, which was not started, was to follow another attempt, whose end has been reported. */
  isNext(tool: Tool): boolean {
    return this.#waiting.get(tool.rank)?.next === tool;
  }

  /** The job ends: nothing is started again. */
  giveUp(): void {
    for (const waiting of this.#waiting.values()) {
      if (waiting.isGivenUp) continue;
      waiting.isGivenUp = true;
      waiting.timer?.cancel();
      this.#init.onGivenUp(waiting.end);
      this.#check(waiting);
    }
  }

  /** The streams of a rank end behind the output of its last attempt. */
  #check({ former, next, end, timer, afterMs, report, isDue, isGivenUp }: Waiting): void {
    if (!former.gone) return;
    if (isGivenUp) next.skip();
    else if (timer === undefined) {
      this.#waiting.delete(former.rank);
      this.#init.onLeaving(former, next, end, afterMs);
    } else if (isDue && report <= this.#noted) this.#init.onDue(next);
  }
}
