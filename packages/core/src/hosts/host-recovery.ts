/**
 * Host recovery, at the controller: asks the error manager what follows when the agent of a host does not come up, or
 * is lost, and has the action carried out. It counts the starts of each agent, and has the spare hosts.
 */

import {
  assert, type Action, type Clock, type ErrorManager, type Failure, type HostAction, type HostIndex, type HostSpec,
  type RecoveryEvent, type SessionContext,
} from '@stci/interface';
import { Timers } from '../event/timers.js';
import type { MembershipTable } from '../membership/table.js';

/** The loss of an agent that has run for so long has nothing to do with its former starts. */
const SETTLED_MS = 60_000;

export interface HostRecoveryInit {
  readonly clock: Clock;
  readonly errorManager: ErrorManager;
  readonly table: Pick<MembershipTable, 'count' | 'get'>;
  /** The hosts that have the indices now. */
  readonly hosts: readonly HostSpec[];
  readonly spares: readonly HostSpec[];
}

export interface HostRecoveryEvents {
  emit(event: RecoveryEvent): void;
  /** The next incarnation is to be started on this host, which has the index from now on. */
  start(host: HostIndex, spec: HostSpec): void;
  leaveOut(host: HostIndex): void;
  endLaunch(host: HostIndex, reason: string | undefined): void;
}

interface Starts {
  count: number;
  /** When the last one came up; undefined: it has not. */
  upMs: number | undefined;
}

export class HostRecovery {
  readonly #init: HostRecoveryInit;
  readonly #events: HostRecoveryEvents;
  readonly #spares: HostSpec[];
  readonly #starts = new Map<HostIndex, Starts>();
  /** Epochs of the rows of hosts that are to be started again; another epoch ends the pause. */
  readonly #pauses = new Map<HostIndex, number>();
  readonly #timers: Timers<HostIndex>;
  #isClosed = false;

  constructor(init: HostRecoveryInit, events: HostRecoveryEvents) {
    this.#init = init;
    this.#events = events;
    this.#spares = [...init.spares];
    this.#timers = new Timers(init.clock);
  }

  /** Those that are not used. */
  get spares(): readonly HostSpec[] {
    return this.#spares;
  }

  /** A spare host is one no more; false if the host was none. */
  takeSpare(name: string): boolean {
    const at = this.#spares.findIndex((spare) => spare.name === name);
    if (at >= 0) this.#spares.splice(at, 1);
    return at >= 0;
  }

  onUp(host: HostIndex): void {
    this.#startsOf(host).upMs = this.#init.clock.nowMs();
  }

  onFailed(host: HostIndex, phase: SessionContext['phase'], failure: Failure): void {
    if (this.#isClosed) return;
    const { errorManager, table, clock } = this.#init;
    const starts = this.#startsOf(host);
    const isSettled = starts.upMs !== undefined && clock.nowMs() - starts.upMs >= SETTLED_MS;
    if (phase !== 'launching' && isSettled) starts.count = 1;
    starts.upMs = undefined;
    const actions = errorManager.decide(failure, {
      of: 'session',
      phase,
      hostName: this.#spec(host).name,
      starts: starts.count,
      hostsLeft: table.count('up', 'starting'),
      sparesLeft: this.#spares.length,
    });
    for (const action of actions) {
      if (isHostAction(action)) this.#carryOut(host, phase, failure, action);
    }
  }

  /** It is to be started again. */
  isPausing(host: HostIndex): boolean {
    return this.#pauses.get(host) === this.#init.table.get(host).epoch;
  }

  /** The session stops. */
  close(): void {
    this.#isClosed = true;
    this.#timers.close();
  }

  #carryOut(host: HostIndex, phase: SessionContext['phase'], { error }: Failure, action: HostAction): void {
    if (action.type === 'end-launch') return this.#events.endLaunch(host, action.reason);
    const event = { type: 'recovery', phase, host, name: this.#spec(host).name, error } as const;
    if (action.type === 'leave-out') {
      const { type, ...rest } = action;
      this.#events.emit({ ...event, action: type, ...rest });
      return this.#events.leaveOut(host);
    }
    const starts = this.#startsOf(host);
    if (action.type === 'use-spare') {
      const spare = this.#spares.shift();
      assert(spare !== undefined, 'a spare host is used where one is left');
      starts.count = 1;
      this.#events.emit({ ...event, action: 'use-spare', spare: spare.name });
      return this.#events.start(host, spare);
    }
    starts.count += 1;
    const { afterMs } = action;
    this.#events.emit({ ...event, action: 'start-again', afterMs, starts: starts.count });
    if (afterMs === 0) this.#events.start(host, this.#spec(host));
    else this.#startAfter(afterMs, host);
  }

  /** Unless something else is done about the host meanwhile. */
  #startAfter(afterMs: number, host: HostIndex): void {
    this.#pauses.set(host, this.#init.table.get(host).epoch);
    this.#timers.set(host, afterMs, () => {
      const isWanted = this.isPausing(host);
      this.#pauses.delete(host);
      if (isWanted) this.#events.start(host, this.#spec(host));
    });
  }

  #spec(host: HostIndex): HostSpec {
    return this.#init.hosts[host] as HostSpec;
  }

  #startsOf(host: HostIndex): Starts {
    let starts = this.#starts.get(host);
    if (starts === undefined) this.#starts.set(host, (starts = { count: 1, upMs: undefined }));
    return starts;
  }
}

function isHostAction(action: Action): action is HostAction {
  return action.type !== 'end-job' && action.type !== 'go-on';
}
