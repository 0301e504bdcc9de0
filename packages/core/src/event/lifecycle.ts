/**
 * Life cycles as tables: state → event → next state. An event that a state does not permit is a programming error.
 * scripts/write-reference.mjs draws the tables in docs/architecture.md.
 */

import { assert } from '@stci/interface';

export interface LifeTable<State extends string, Event extends string> {
  /** Whose life it is, with its article: for messages. */
  readonly of: string;
  readonly first: State;
  readonly rows: Readonly<Record<State, Readonly<Partial<Record<Event, State>>>>>;
}

export function nextState<State extends string, Event extends string>(
  { of, rows }: LifeTable<State, Event>, state: State, event: Event,
): State {
  const next: State | undefined = rows[state][event];
  assert(next !== undefined, `${of} that is ${state} permits no event ${event}`);
  return next;
}

export class Lifecycle<State extends string, Event extends string> {
  readonly #table: LifeTable<State, Event>;
  #state: State;

  constructor(table: LifeTable<State, Event>) {
    this.#table = table;
    this.#state = table.first;
  }

  get state(): State {
    return this.#state;
  }

  is(...states: readonly State[]): boolean {
    return states.includes(this.#state);
  }

  apply(event: Event): State {
    return (this.#state = nextState(this.#table, this.#state, event));
  }
}
