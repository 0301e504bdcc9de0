/**
 * Events (STCI paper, II-D). An event connects an occurrence to actions; a domain has events and their observers; a
 * trigger puts an activation on the domain's dispatch queue; a dispatcher runs the handlers, a bounded number per turn,
 * so that a busy domain starves no other.
 */

/** Event name → payload. */
export type EventMap = Readonly<Record<string, unknown>>;

export interface Observation {
  cancel(): void;
}

export interface EventDomain<Events extends EventMap> {
  readonly name: string;
  /** Handlers of one event run in the order of their registration. */
  observe<Name extends keyof Events & string>(
    event: Name,
    handler: (payload: Events[Name]) => void,
  ): Observation;
  /** Queues one activation. Throws STCI_EVENT_QUEUE_FULL at the domain's bound. */
  trigger<Name extends keyof Events & string>(event: Name, payload: Events[Name]): void;
  /** Waiting activations. */
  readonly queued: number;
}

/**
 * `implicit`: the dispatcher schedules itself whenever an activation waits. `explicit`: nothing runs until the owner
 * calls `progress`.
 */
export type ProgressModel = 'implicit' | 'explicit';

export interface Dispatcher {
  readonly progressModel: ProgressModel;
  domain<Events extends EventMap>(name: string, queueMax?: number): EventDomain<Events>;
  /**
   * Runs at most `limit` activations (default: the bound of a turn), round-robin over the domains; returns how many
   * ran. A handler that throws does not stop other handlers or the dispatcher: see `onFault`.
   */
  progress(limit?: number): number;
  /** Drops waiting activations and accepts no more. */
  close(): void;
}
