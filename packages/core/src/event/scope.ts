/**
 * Scope: what somebody holds as long as he lives: an agent, a job, the process of a rank, a part of a service, a fault,
 * a front-end. A tree with labels: a scope has timers, listeners, processes, streams, and scopes of others within. Its
 * end undoes all of it, the last that came first. What somebody else has the books of is only shown.
 */

/** A row of the tree, from the top down: how deep it is, what is held, and how many alike there are at that place. */
export type HeldRow = readonly [depth: number, label: string, count: number];

/** Bounds on what is told of one scope. */
export const HELD_ROWS_MAX = 1000;
export const HELD_DEPTH_MAX = 16;
export const HELD_LABEL_CHARS_MAX = 200;

interface Held {
  readonly label: string;
  undo(): void;
  /** What is within it. */
  readonly scope?: Scope;
  /** It is shown as these instead of its label. */
  labels?(): Iterable<string>;
}

export class Scope {
  readonly label: string;
  readonly #held = new Set<Held>();
  #forget: () => void = () => undefined;
  #isClosed = false;

  constructor(label: string) {
    this.label = label;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A scope within this one, which ends with it, or before by itself. */
  child(label: string): Scope {
    const scope = new Scope(label);
    this.include(scope);
    return scope;
  }

  /** As `child`, of one that there is already. */
  include(scope: Scope): void {
    scope.#forget = this.#add({ label: scope.label, undo: () => scope.close(), scope });
  }

  /** Calls `undo` at the end, now if that has come. Returns how to forget it: it is undone, or about to be. */
  hold(label: string, undo: () => void): () => void {
    return this.#add({ label, undo });
  }

  /** As `hold`, of what is not worth a row. */
  atEnd(undo: () => void): () => void {
    return this.holdAll(() => [], undo);
  }

  /** As `hold`, of things that come and go: `labels` says what there is. */
  holdAll(labels: () => Iterable<string>, undo: () => void = () => undefined): () => void {
    return this.#add({ label: '', undo, labels });
  }

  /** Undoes all, even if one of them throws; the first error follows. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    const faults: unknown[] = [];
    for (const held of [...this.#held].reverse()) {
      if (!this.#held.delete(held)) continue; // Forgotten meanwhile.
      try {
        held.undo();
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  }

  /** What is held, without this scope's own label. */
  rows(): HeldRow[] {
    const rows = this.#rows(0);
    const left = rows.length - HELD_ROWS_MAX;
    if (left <= 0) return rows;
    return [...rows.slice(0, HELD_ROWS_MAX - 1), [0, 'more, not shown', left + 1]];
  }

  #add(held: Held): () => void {
    if (this.#isClosed) held.undo();
    else this.#held.add(held);
    return () => void this.#held.delete(held);
  }

  #rows(depth: number): HeldRow[] {
    if (depth === HELD_DEPTH_MAX) return [];
    const rows: HeldRow[] = [];
    /** Of those with nothing in them. */
    const counts = new Map<string, number>();
    for (const { label, scope, labels } of this.#held) {
      const within = scope === undefined ? [] : scope.#rows(depth + 1);
      if (within.length > 0) rows.push([depth, cut(label), 1], ...within);
      else for (const each of labels?.() ?? [label]) counts.set(cut(each), (counts.get(cut(each)) ?? 0) + 1);
    }
    return [...[...counts].map(([label, count]): HeldRow => [depth, label, count]), ...rows];
  }
}

function cut(label: string): string {
  return label.length <= HELD_LABEL_CHARS_MAX ? label : `${label.slice(0, HELD_LABEL_CHARS_MAX - 1)}…`;
}
