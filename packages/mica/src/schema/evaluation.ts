/** What one validation carries along: where it is, what it found wrong, and what it has looked at. */
import type { Problem } from "./validate.js";

/** Says whether a value fits; what is wrong goes to `run`, what was looked at to `seen`, where somebody wants to know. */
export type Check = (value: unknown, run: Run, seen: Seen | undefined) => boolean;

/** Schemas applied in one validation: far more than honest ones take, so that one that multiplies itself is stopped. */
const STEPS = { atLeast: 200_000, perMember: 100, atMost: 20_000_000 };

/** More problems than that are not collected. */
export const MAX_PROBLEMS = 1_000;

export class Run {
  /** Keys and indexes from the root of the value. */
  readonly path: (string | number)[] = [];
  /** Base URIs of the schemas that led here, outermost first; kept only where references depend on it. */
  readonly scope: string[] = [];
  /** Undefined while the first problem decides. */
  problems: Problem[] | undefined;
  readonly #value: unknown;
  #steps = 0;
  #budget = STEPS.atLeast;

  constructor(value: unknown, problems: Problem[] | undefined) {
    this.#value = value;
    this.problems = problems;
  }

  /** @throws Error where validation takes too long. */
  step(): void {
    if (++this.#steps <= this.#budget) return;
    this.#budget = Math.min(STEPS.atMost, STEPS.atLeast + STEPS.perMember * countMembers(this.#value));
    if (this.#steps > this.#budget) throw new Error(`validation was given up after ${this.#budget} steps`);
  }

  /** Whether there is no point in looking any further. */
  get isDecided(): boolean {
    return this.problems === undefined || this.problems.length >= MAX_PROBLEMS;
  }

  /** Notes a problem at the current place, or at a member of it. Always false. */
  fail(message: string, member?: string | number): false {
    if (this.problems !== undefined && this.problems.length < MAX_PROBLEMS) {
      this.problems.push({
        path: pathOf(member === undefined ? this.path : [...this.path, member]),
        message,
      });
    }
    return false;
  }

  /** Looks into a member of the current value. */
  enter(check: Check, value: unknown, member: string | number): boolean {
    this.path.push(member);
    const fits = check(value, this, undefined);
    this.path.pop();
    return fits;
  }

  /** Whether a value fits, without noting why not. */
  quietly(check: Check, value: unknown, seen?: Seen): boolean {
    const { problems } = this;
    this.problems = undefined;
    const fits = check(value, this, seen);
    this.problems = problems;
    return fits;
  }

  /** The problems of a value, apart from those found so far. */
  separately(check: Check, value: unknown): Problem[] {
    const { problems } = this;
    const own: Problem[] = [];
    this.problems = own;
    check(value, this, undefined);
    this.problems = problems;
    return own;
  }
}

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) count += countMembers(inner);
  return count;
}

/** `["items", 0, "name"]` as `items[0].name`. */
export function pathOf(path: readonly (string | number)[]): string {
  let joined = "";
  for (const key of path) joined += typeof key === "number" ? `[${key}]` : joined ? `.${key}` : key;
  return joined;
}

/** Members of one value that some subschema has been applied to (Core, section 11). */
export class Seen {
  readonly names = new Set<string>();
  readonly indexes = new Set<number>();
  allNames = false;
  /** All items before this one. */
  upTo = 0;

  add(other: Seen): void {
    for (const name of other.names) this.names.add(name);
    for (const index of other.indexes) this.indexes.add(index);
    this.allNames ||= other.allNames;
    this.upTo = Math.max(this.upTo, other.upTo);
  }

  hasName(name: string): boolean {
    return this.allNames || this.names.has(name);
  }

  hasIndex(index: number): boolean {
    return index < this.upTo || this.indexes.has(index);
  }
}
