/** How many marks a program may make: the session keeps each one until its job is forgotten. */

import { MARKS_MAX, MARKS_PER_SECOND_MAX } from '@stci/interface';

const SECOND_MS = 1000;
/** The program counts by its own clock, and stops at what is permitted. */
const TOLERANCE = 2;

export class MarkBudget {
  static readonly problem = `it made more than ${MARKS_PER_SECOND_MAX} marks in a second, or ${MARKS_MAX} in all`;
  #count = 0;
  #inSecond = 0;
  #sinceMs = -Infinity;

  /** False if it is used up. */
  take(nowMs: number): boolean {
    if (nowMs - this.#sinceMs >= SECOND_MS) {
      this.#sinceMs = nowMs;
      this.#inSecond = 0;
    }
    this.#count += 1;
    this.#inSecond += 1;
    return this.#count <= MARKS_MAX && this.#inSecond <= TOLERANCE * MARKS_PER_SECOND_MAX;
  }
}
