/** What is done once for each of many ids, in memory that does not grow with their number. Pure. */

/** The oldest ids are forgotten beyond so many. */
export class Once<Id> {
  readonly #ids = new Set<Id>();
  readonly #idsMax: number;

  constructor(idsMax: number) {
    this.#idsMax = idsMax;
  }

  get size(): number {
    return this.#ids.size;
  }

  has(id: Id): boolean {
    return this.#ids.has(id);
  }

  /** True for the first time. */
  add(id: Id): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > this.#idsMax) this.#ids.delete(this.#ids.values().next().value as Id);
    return true;
  }
}
