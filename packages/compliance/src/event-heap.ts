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
    heap.push({ atMs, order: this.#order++, run });
    for (let i = heap.length - 1; i > 0;) {
      const parent = (i - 1) >> 1;
      if (!this.#isBefore(i, parent)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  /** Removes the first event; there is one. */
  take(): () => void {
    const heap = this.#heap;
    const first = heap[0] as Entry;
    const last = heap.pop() as Entry;
    if (heap.length > 0) heap[0] = last;
    for (let i = 0; ;) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < heap.length && this.#isBefore(child, least)) least = child;
      }
      if (least === i) return first.run;
      this.#swap(i, least);
      i = least;
    }
  }

  #isBefore(i: number, j: number): boolean {
    const [a, b] = [this.#heap[i] as Entry, this.#heap[j] as Entry];
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #swap(i: number, j: number): void {
    [this.#heap[i], this.#heap[j]] = [this.#heap[j] as Entry, this.#heap[i] as Entry];
  }
}
