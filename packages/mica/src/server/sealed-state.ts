/**
 * `requestState`: what a handler needs to go on where another run of it stopped, sealed so that whoever carries it
 * can neither read nor change it, nor use it for another request (patterns/mrtr, Server Requirements 4 and 5).
 *
 * AES-256-GCM. The request it belongs to (principal, method, name, arguments) is authenticated along with it, and
 * an expiry travels inside. That bounds replay; it does not make a state usable only once.
 */
export interface StateOptions {
  /**
   * Secrets of at least 32 characters: the first seals, all of them open, so that keys can be rotated. Replicas that
   * share them finish each other's calls. Default: `MICA_STATE_KEY` (several separated by commas), else a random key
   * that lives and dies with the process.
   */
  keys?: string | readonly string[];
  /** Milliseconds for which a state may be used. Default 15 minutes: a person has to answer meanwhile. */
  ttlMs?: number;
  /** Rounds of questions one call may take. Default 16. */
  maxRounds?: number;
  /** Bytes of a sealed state. Default 256 KiB. */
  maxBytes?: number;
}

export const DEFAULT_STATE_OPTIONS = { ttlMs: 15 * 60_000, maxRounds: 16, maxBytes: 256 * 1024 } as const;

/** The request a state is bound to. */
export interface StateBinding {
  readonly principal: string | undefined;
  readonly method: string;
  readonly name: string;
  readonly args: unknown;
}

/** What travels: answers given and steps done so far. */
export interface CallState {
  /** Stays the same from the first round of a call to the last. */
  readonly callId: string;
  readonly round: number;
  readonly answers: Record<string, unknown>;
  /** A step's result, in an array: empty where it was undefined. */
  readonly steps: Record<string, unknown[]>;
}

export interface StateSeal {
  readonly maxRounds: number;
  seal(state: CallState, binding: StateBinding): Promise<string> | string;
  /** @throws ProtocolError -32602 where the state is malformed, changed, expired or not of this request. */
  open(sealed: unknown, binding: StateBinding): Promise<CallState> | CallState;
}

/**
 * What seals and opens is loaded with the first state: most servers never ask.
 *
 * @throws TypeError where a key is shorter than 32 characters.
 */
export function createStateSeal(options: StateOptions = {}, now: () => number = Date.now): StateSeal {
  const { ttlMs, maxRounds, maxBytes } = { ...DEFAULT_STATE_OPTIONS, ...options };
  const secrets = readKeys(options.keys, "state.keys") ?? readKeys(environmentKey(), "MICA_STATE_KEY");
  let loading: Promise<StateSeal> | undefined;
  let loaded: StateSeal | undefined;

  async function load(): Promise<StateSeal> {
    const { loadStateSeal } = await import("./seal.js");
    loaded = await loadStateSeal(secrets, { ttlMs, maxRounds, maxBytes }, now);
    return loaded;
  }

  function ready(): Promise<StateSeal> {
    loading ??= load();
    return loading;
  }

  return {
    maxRounds,
    seal: (state, binding) =>
      loaded?.seal(state, binding) ?? ready().then((seal) => seal.seal(state, binding)),
    open: (sealed, binding) =>
      loaded?.open(sealed, binding) ?? ready().then((seal) => seal.open(sealed, binding)),
  };
}

function readKeys(keys: string | readonly string[] | undefined, what: string): readonly string[] | undefined {
  if (keys === undefined) return undefined;
  const list = typeof keys === "string" ? [keys] : keys;
  if (list.length === 0) throw new TypeError(`${what} must hold at least one key`);
  for (const [index, key] of list.entries()) {
    if (typeof key !== "string" || key.length < 32) {
      throw new TypeError(
        `${what}: key ${index + 1} must be a secret of at least 32 characters, got ${String(key).length}`,
      );
    }
  }
  return list;
}

function environmentKey(): string[] | undefined {
  const value = globalThis.process?.env?.["MICA_STATE_KEY"];
  const keys = value?.split(",").map((key) => key.trim());
  return keys?.some((key) => key !== "") ? keys.filter((key) => key !== "") : undefined;
}
