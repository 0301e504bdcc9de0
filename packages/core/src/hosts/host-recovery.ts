/**
 * Host recovery, at the controller: asks the error manager what follows when the agent of a host does not come up, or
 * is lost, and has the action carried out. It has the spare hosts.
 */

import {
  assert, type Action, type Clock, type ErrorManager, type HostAction, type HostIndex, type HostSpec,
  type RecoveryEvent, type SessionContext,
} from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { HostFailure } from '../job/exit-rule.js';
import type { MembershipTable } from '../membership/table.js';

/** The loss of an agent that has run for so long has nothing to do with its former starts. */
const SETTLED_MS = 60_000;

export interface HostRecoveryInit {
  readonly clock: Clock;
  /** Of the controller. */
  readonly holds: Scope;
  readonly errorManager: ErrorManager;
  readonly table: Pick<MembershipTable, 'count' | 'get' | 'note'>;
  readonly spares: readonly HostSpec[];
}

export interface HostRecoveryEvents {
  emit(event: RecoveryEvent): void;
  /** The next incarnation is to be started on this host, which has the index from now on. */
  start(host: HostIndex, spec: HostSpec): void;
  leaveOut(host: HostIndex): void;
  endLaunch(host: HostIndex, reason: string | undefined): void;
}

export class HostRecovery {
  readonly #init: HostRecoveryInit;
  readonly #events: HostRecoveryEvents;
  readonly #spares: HostSpec[];
  readonly #timers: Timers<HostIndex>;
  #isClosed = false;

  constructor(init: HostRecoveryInit, events: HostRecoveryEvents) {
    this.#init = init;
    this.#events = events;
    this.#spares = [...init.spares];
    this.#timers = new Timers(init.clock, init.holds, 'timer restart of host');
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

  onFailed(phase: SessionContext['phase'], failure: HostFailure): void {
    if (this.#isClosed) return;
    const { host } = failure;
    const { errorManager, table, clock } = this.#init;
    const { spec: { name }, upMs } = table.get(host);
    const isSettled = upMs !== undefined && clock.nowMs() - upMs >= SETTLED_MS;
    if (phase !== 'launching' && isSettled) table.note(host, { starts: 1 });
    const actions = errorManager.decide(failure, {
      of: 'session',
      phase,
      hostName: name,
      starts: table.get(host).starts,
      hostsLeft: table.count('up', 'starting'),
      sparesLeft: this.#spares.length,
    });
    for (const action of actions) {
      if (isHostAction(action)) this.#carryOut(phase, failure, action);
    }
  }

  /** The session stops. */
  close(): void {
    this.#isClosed = true;
    this.#timers.close();
  }

  #carryOut(phase: SessionContext['phase'], { host, error }: HostFailure, action: HostAction): void {
    if (action.type === 'end-launch') return this.#events.endLaunch(host, action.reason);
    const { table } = this.#init;
    const { spec, starts } = table.get(host);
    const event = { type: 'recovery', phase, host, name: spec.name, error } as const;
    if (action.type === 'leave-out') {
      const { type, ...rest } = action;
      this.#events.emit({ ...event, action: type, ...rest });
      return this.#events.leaveOut(host);
    }
    if (action.type === 'use-spare') {
      const spare = this.#spares.shift();
      assert(spare !== undefined, 'a spare host is used where one is left');
      this.#events.emit({ ...event, action: 'use-spare', spare: spare.name });
      return this.#events.start(host, spare);
    }
    const { afterMs } = action;
    table.note(host, { starts: starts + 1 });
    this.#events.emit({ ...event, action: 'start-again', afterMs, starts: starts + 1 });
    if (afterMs === 0) this.#events.start(host, spec);
    else this.#startAfter(afterMs, host);
  }

  /** Unless something else is done about the host meanwhile. */
  #startAfter(afterMs: number, host: HostIndex): void {
    const { table } = this.#init;
    table.note(host, { isPausing: true });
    this.#timers.set(host, afterMs, () => {
      const { isPausing, spec } = table.get(host);
      table.note(host, { isPausing: false });
      if (isPausing) this.#events.start(host, spec);
    });
  }
}

function isHostAction(action: Action): action is HostAction {
  return action.type !== 'end-job' && action.type !== 'go-on';
}
