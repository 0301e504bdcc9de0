/**
 * Due times of many things, of which few are due at a time: the next is found without a look at all of them. A binary
 * heap by time; the entry of a time that was changed or deleted stays in it until it comes first. Pure.
 */

type Entry<Key> = readonly [dueMs: number, key: Key];

export class DueTimes<Key> {
  readonly #times = new Map<Key, number>();
  readonly #heap: Entry<Key>[] = [];

  /** The earliest; undefined: there is none. */
  get firstMs(): number | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      const [dueMs, key] = first;
      if (this.#times.get(key) === dueMs) return dueMs;
      this.#removeFirst();
    }
    return undefined;
  }

  set(key: Key, dueMs: number): void {
    if (this.#times.get(key) === dueMs) return;
    this.#times.set(key, dueMs);
    const heap = this.#heap;
    let at = heap.length;
    for (; at > 0; at = (at - 1) >> 1) {
      const above = heap[(at - 1) >> 1] as Entry<Key>;
      if (above[0] <= dueMs) break;
      heap[at] = above;
    }
    heap[at] = [dueMs, key];
  }

  delete(key: Key): void {
    this.#times.delete(key);
  }

  /** Takes all that are due, in no particular order. */
  take(nowMs: number): Key[] {
    const due: Key[] = [];
    while ((this.firstMs ?? Infinity) <= nowMs) {
      const [, key] = this.#heap[0] as Entry<Key>;
      this.#times.delete(key);
      this.#removeFirst();
      due.push(key);
    }
    return due;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Entry<Key>;
    if (heap.length === 0) return;
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      const other = heap[below + 1];
      if (other !== undefined && other[0] < (heap[below] as Entry<Key>)[0]) below += 1;
      const least = heap[below] as Entry<Key>;
      if (last[0] <= least[0]) break;
      heap[at] = least;
      at = below;
    }
    heap[at] = last;
  }
}
