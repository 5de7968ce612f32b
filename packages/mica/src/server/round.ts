/** One round of a multi round-trip request: questions asked, steps taken, and when it is over (patterns/mrtr). */
import type { InputRequest } from "../protocol/input-requests.js";
import type { CallState } from "./sealed-state.js";

/** What a step function receives. */
export interface StepInfo {
  /** The same for this step of this call in every process: give it to whatever must not happen twice. */
  readonly idempotencyKey: string;
}

/** Keeps the result of a step where it outlives the process; the handler goes on once that resolves. */
export type KeepStep = (name: string, kept: unknown[]) => void | Promise<void>;

/** Rejects the questions of a round that has to end. Handlers let it pass; swallowing it changes nothing. */
export const WAITING = new Error(
  "This round ends here: the client has to answer first. Let this error pass.",
);

/** What one round of a call knows and collects. Made when a handler first asks or takes a step: most never do. */
export class Round {
  readonly callId: string;
  readonly number: number;
  readonly answers: Record<string, unknown>;
  readonly steps: Record<string, unknown[]>;
  readonly questions = new Map<string, InputRequest>();
  readonly running = new Set<Promise<unknown>>();
  readonly #used = new Set<string>();
  readonly keepStep: KeepStep | undefined;
  isOver = false;

  constructor(state: CallState | undefined, keepStep?: KeepStep) {
    this.keepStep = keepStep;
    this.callId = state?.callId ?? crypto.randomUUID();
    this.number = state?.round ?? 0;
    this.answers = Object.assign(Object.create(null), state?.answers) as Record<string, unknown>;
    this.steps = Object.assign(Object.create(null), state?.steps) as Record<string, unknown[]>;
  }

  use(what: string): void {
    if (this.#used.has(what))
      throw new TypeError(`${what} is used twice in one call: give every one a name of its own`);
    this.#used.add(what);
  }

  wait(key: string, request: InputRequest): void {
    this.questions.set(key, request);
    // Questions and steps begun in the same turn belong to the round; what comes after may depend on an answer.
    queueMicrotask(() => {
      this.isOver = true;
    });
  }

  track<T>(promise: Promise<T>): Promise<T> {
    this.running.add(promise);
    const done = () => void this.running.delete(promise);
    promise.then(done, done);
    return promise;
  }
}

/** Takes a step once per call: its result comes from the state wherever an earlier round took it. */
export async function takeStep<T>(
  round: Round,
  name: string,
  run: (info: StepInfo) => T | Promise<T>,
): Promise<T> {
  round.use(`step ${JSON.stringify(name)}`);
  const done = Object.hasOwn(round.steps, name) ? round.steps[name] : undefined;
  if (done !== undefined) return done[0] as T;
  // What is not known yet may decide whether this step happens at all.
  if (round.isOver) throw WAITING;
  const value = await run({ idempotencyKey: `${round.callId}:${name}` });
  // As it will read after the journey, so that no round sees more of it than another.
  const kept = value === undefined ? [] : [JSON.parse(JSON.stringify(value)) as T];
  round.steps[name] = kept;
  if (round.keepStep !== undefined) await round.keepStep(name, kept);
  return kept[0] as T;
}
