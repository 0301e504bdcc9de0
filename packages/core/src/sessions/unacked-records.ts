/**
 * The records that a front-end was sent and has not shown, in their order. They are dealt with in any order: standard
 * error while standard output stands still, an event beside output that is left to the next front-end. What is shown
 * of them, so that no other front-end needs it, is what is before the oldest that is not.
 */

interface Unshown {
  readonly cost: number;
  isDone: boolean;
}

export class UnackedRecords {
  #records: Unshown[] = [];
  /** Of those that are not dealt with. */
  #openBytes = 0;

  /** Costs of records that are not dealt with. */
  get openBytes(): number {
    return this.#openBytes;
  }

  /** A record of this cost came. Returns what to call, once, when it is dealt with. */
  add(cost: number): () => void {
    const record: Unshown = { cost, isDone: false };
    this.#records.push(record);
    this.#openBytes += cost;
    return () => {
      record.isDone = true;
      this.#openBytes -= cost;
    };
  }

  /** Cost of the oldest records that are dealt with without a gap, since this was last called. */
  takeShown(): number {
    const oldest = this.#records.findIndex(({ isDone }) => !isDone);
    const shown = this.#records.splice(0, oldest < 0 ? this.#records.length : oldest);
    return shown.reduce((sum, { cost }) => sum + cost, 0);
  }
}
