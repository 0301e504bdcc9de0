/**
 * The event queue of a simulated world: a binary heap on (time, sequence number), and beside it a FIFO for events of
 * the next turn of the loop, whose delay is constant, so that they need no heap. Events are objects with a `fire`
 * method, not closures, to allow a million per second.
 */

/** The task whose code an event runs: events of a dead owner are dropped, those of a paused one are held. */
export interface EventOwner {
  readonly id: number;
  readonly alive: boolean;
  readonly paused: boolean;
  hold(event: SimEvent): void;
}

export abstract class SimEvent {
  /** Kind of event in the trace. */
  abstract readonly code: number;
  timeMs = 0;
  seq = 0;
  cancelled = false;
  owner: EventOwner | undefined;

  constructor(owner: EventOwner | undefined) {
    this.owner = owner;
  }

  abstract fire(): void;

  /** Called instead of `fire` if the owner is dead. */
  orphaned(): void {}
}

function before(a: SimEvent, b: SimEvent): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.seq < b.seq);
}

export class EventQueue {
  #heap: SimEvent[] = [];
  #turn: SimEvent[] = [];
  #turnHead = 0;
  #seq = 0;
  #cancelled = 0;

  get size(): number {
    return this.#heap.length + this.#turn.length - this.#turnHead;
  }

  /** Events that were ever put into it. */
  get pushed(): number {
    return this.#seq;
  }

  /** Pending events, in no order. */
  pending(): readonly SimEvent[] {
    return [...this.#heap, ...this.#turn.slice(this.#turnHead)].filter((event) => isPending(event));
  }

  push(event: SimEvent, timeMs: number): void {
    event.timeMs = timeMs;
    event.seq = this.#seq++;
    this.#heap.push(event);
    this.#up(this.#heap.length - 1);
  }

  /** As `push`, for events whose times never decrease from one call to the next. */
  pushTurn(event: SimEvent, timeMs: number): void {
    event.timeMs = timeMs;
    event.seq = this.#seq++;
    this.#turn.push(event);
  }

  /** A cancelled event stays in the heap until it is due, or until there are too many of them. */
  cancel(event: SimEvent): void {
    if (event.cancelled) return;
    event.cancelled = true;
    this.#cancelled++;
    if (this.#cancelled > 1024 && this.#cancelled > this.#heap.length / 2) this.#compact();
  }

  peek(): SimEvent | undefined {
    const heap = this.#heap[0];
    const turn = this.#turn[this.#turnHead];
    if (heap === undefined) return turn;
    if (turn === undefined) return heap;
    return before(turn, heap) ? turn : heap;
  }

  pop(): SimEvent | undefined {
    const next = this.peek();
    if (next === undefined) return undefined;
    if (next === this.#turn[this.#turnHead]) this.#popTurn();
    else this.#popHeap();
    if (next.cancelled && this.#cancelled > 0) this.#cancelled--;
    return next;
  }

  #popTurn(): void {
    this.#turnHead++;
    if (this.#turnHead < 1024 || this.#turnHead * 2 < this.#turn.length) return;
    this.#turn = this.#turn.slice(this.#turnHead);
    this.#turnHead = 0;
  }

  #popHeap(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#down(0);
  }

  #compact(): void {
    this.#heap = this.#heap.filter((event) => isPending(event));
    this.#cancelled = 0;
    for (let index = (this.#heap.length >> 1) - 1; index >= 0; index--) this.#down(index);
  }

  #up(start: number): void {
    const heap = this.#heap;
    const event = heap[start] as SimEvent;
    let index = start;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex] as SimEvent;
      if (!before(event, parent)) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = event;
  }

  #down(start: number): void {
    const heap = this.#heap;
    const event = heap[start] as SimEvent;
    const length = heap.length;
    let index = start;
    for (;;) {
      let childIndex = 2 * index + 1;
      if (childIndex >= length) break;
      let child = heap[childIndex] as SimEvent;
      const other = heap[childIndex + 1];
      if (other !== undefined && before(other, child)) {
        child = other;
        childIndex++;
      }
      if (!before(child, event)) break;
      heap[index] = child;
      index = childIndex;
    }
    heap[index] = event;
  }
}

function isPending(event: SimEvent): boolean {
  return !event.cancelled && (event.owner === undefined || event.owner.alive);
}
