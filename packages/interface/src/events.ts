/**
 * Events (STCI paper, II-D). An event ties an occurrence to actions; a domain keeps its events and their
 * observers; triggering puts an activation on the domain's dispatch queue; a dispatcher runs the handlers, a bounded
 * number a turn, so that one busy domain starves no other.
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
  /** Activations that wait. */
  readonly queued: number;
}

/**
 * `implicit`: the dispatcher schedules itself whenever something waits. `explicit`: nothing runs until the owner
 * calls `progress`.
 */
export type ProgressModel = 'implicit' | 'explicit';

export interface Dispatcher {
  readonly progressModel: ProgressModel;
  domain<Events extends EventMap>(name: string, queueMax?: number): EventDomain<Events>;
  /**
   * Runs at most `limit` activations (default: the turn's bound), round robin over the domains; returns how many
   * ran. A handler that throws stops neither its siblings nor the dispatcher: see `onFault`.
   */
  progress(limit?: number): number;
  /** Forgets what waits and takes nothing more. */
  close(): void;
}
