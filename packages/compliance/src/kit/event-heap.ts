/** Events of a virtual clock, by time; those of the same time in the order in which they were added. */

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class EventHeap {
  readonly #heap: Entry[] = [];
  #order = 0;

  get nextMs(): number | undefined {
    return this.#heap[0]?.atMs;
  }

  add(atMs: number, run: () => void): void {
    const heap = this.#heap;
    const entry = { atMs, order: this.#order++, run };
    let at = heap.length;
    // Those that come later move down, until its place is free.
    while (at > 0) {
      const parent = heap[(at - 1) >> 1] as Entry;
      if (parent.atMs <= atMs) break;
      heap[at] = parent;
      at = (at - 1) >> 1;
    }
    heap[at] = entry;
  }

  /** Removes the first event; there is one. */
  take(): () => void {
    const heap = this.#heap;
    const { run } = heap[0] as Entry;
    const last = heap.pop() as Entry;
    const { length } = heap;
    if (length === 0) return run;
    let at = 0;
    for (let child = 1; child < length; child = 2 * at + 1) {
      let least = heap[child] as Entry;
      const other = heap[child + 1];
      if (other !== undefined && isBefore(other, least)) [least, child] = [other, child + 1];
      if (isBefore(last, least)) break;
      heap[at] = least;
      at = child;
    }
    heap[at] = last;
    return run;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
