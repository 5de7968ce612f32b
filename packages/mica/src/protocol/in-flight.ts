/**
 * What is in flight, by slot or by id: for what comes and goes with every request. A `Set` or a `Map` would do, but
 * for one thing: when V8 makes such a table anew, the old one goes on pointing to the new one. Once an old one has
 * grown old enough for the other heap, all that was in flight since then survives every small collection, and a busy
 * client spends a fifth of its time on garbage.
 */

/** Objects in flight. Iterating visits those that are there at its start. */
export class InFlightSet<T extends object> implements Iterable<T> {
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** @returns the slot, with which it is found and taken out */
  add(item: T): number {
    const slot = this.#free.pop() ?? this.#items.length;
    this.#items[slot] = item;
    return slot;
  }

  at(slot: number): T | undefined {
    return this.#items[slot];
  }

  /** Takes an item out; does nothing where its slot has gone to another one since. */
  delete(slot: number, item: T): void {
    if (this.#items[slot] !== item) return;
    this.#items[slot] = undefined;
    this.#free.push(slot);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.filter((item) => item !== undefined)[Symbol.iterator]();
  }
}

/** Objects in flight by id; `1` and `"1"` are two ids. Iterating visits the objects that are there at its start. */
export class InFlightMap<K, V extends object> implements Iterable<V> {
  /** Numbers alone: what this table holds on to for too long is small. */
  readonly #slots = new Map<K, number>();
  readonly #items = new InFlightSet<V>();

  get size(): number {
    return this.#items.size;
  }

  has(id: K): boolean {
    return this.#slots.has(id);
  }

  get(id: K): V | undefined {
    const slot = this.#slots.get(id);
    return slot === undefined ? undefined : this.#items.at(slot);
  }

  /** @throws TypeError where the id is taken */
  add(id: K, item: V): void {
    if (this.#slots.has(id)) throw new TypeError(`id ${JSON.stringify(id)} is in flight already`);
    this.#slots.set(id, this.#items.add(item));
  }

  /** Takes out what has this id. */
  delete(id: K): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#items.delete(slot, this.#items.at(slot) as V);
  }

  [Symbol.iterator](): Iterator<V> {
    return this.#items[Symbol.iterator]();
  }
}
