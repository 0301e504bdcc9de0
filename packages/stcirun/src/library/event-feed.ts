/** Events of a job for its caller: those of `--json`, and what stcirun would print. */

import type { EventJson } from '@stci/core/run';
import { Feed } from './feed.js';

/** Events that wait for a reader; of more the oldest are dropped. */
const EVENTS_MAX = 16_384;

export type JobEvent =
  | EventJson
  /** What stcirun prints on standard error: a warning or remark, or an error. */
  | { readonly type: 'message'; readonly text: string; readonly isError: boolean }
  /** A line of the runtime's log. */
  | { readonly type: 'log'; readonly text: string }
  /** So many events before this one were not read in time. */
  | { readonly type: 'dropped'; readonly count: number };

export class EventFeed {
  readonly #feed = new Feed<JobEvent | string>('The events of a job');
  #dropped = 0;

  /** Text: a line of JSON, which is parsed when it is read. */
  push(event: JobEvent | string): void {
    this.#feed.push(event);
    if (this.#feed.size <= EVENTS_MAX) return;
    this.#feed.take();
    this.#dropped += 1;
  }

  end(error?: unknown): void {
    this.#feed.end(error);
  }

  async *read(): AsyncGenerator<JobEvent, void, undefined> {
    for await (const event of this.#feed.read()) {
      const count = this.#dropped;
      this.#dropped = 0;
      if (count > 0) yield { type: 'dropped', count };
      yield typeof event === 'string' ? JSON.parse(event) as EventJson : event;
    }
  }
}
