/**
 * `requestState`: what a handler needs to go on where another run of it stopped, sealed so that whoever carries it
 * can neither read nor change it, nor use it for another request (patterns/mrtr, Server Requirements 4 and 5).
 *
 * AES-256-GCM. The request it belongs to (principal, method, name, arguments) is authenticated along with it, and
 * an expiry travels inside. That bounds replay; it does not make a state usable only once.
 */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { isObject } from "../protocol/jsonrpc.js";
import { type Aead, createAead } from "./aead.js";

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
  seal(state: CallState, binding: StateBinding): Promise<string>;
  /** @throws ProtocolError -32602 where the state is malformed, changed, expired or not of this request. */
  open(sealed: unknown, binding: StateBinding): Promise<CallState>;
}

const PREFIX = "m1.";
const KEY_ID_BYTES = 4;

/** @throws TypeError where a key is shorter than 32 characters. */
export function createStateSeal(options: StateOptions = {}, now: () => number = Date.now): StateSeal {
  const { ttlMs, maxRounds, maxBytes } = { ...DEFAULT_STATE_OPTIONS, ...options };
  const given = readKeys(options.keys, "state.keys") ?? readKeys(environmentKey(), "MICA_STATE_KEY");
  let ready: Promise<Keyring> | Keyring | undefined;

  async function keyring(): Promise<Keyring> {
    ready ??= buildKeyring(given);
    if (ready instanceof Promise) ready = await ready;
    return ready;
  }

  return {
    maxRounds,
    async seal(state, binding) {
      const { sealing } = await keyring();
      const payload = encoder.encode(JSON.stringify({ ...state, expires: now() + ttlMs }));
      const box = await sealing.aead.seal(payload, associated(binding));
      const sealed = PREFIX + toBase64Url(concat(sealing.id, box));
      if (sealed.length > maxBytes) {
        throw new Error(
          `requestState would take ${sealed.length} bytes; the limit is ${maxBytes}. Keep less in step results.`,
        );
      }
      return sealed;
    },
    async open(sealed, binding) {
      if (typeof sealed !== "string") throw refused("it must be a string");
      if (sealed.length > maxBytes) throw refused(`it is longer than ${maxBytes} bytes`);
      const bytes = sealed.startsWith(PREFIX) ? fromBase64Url(sealed.slice(PREFIX.length)) : undefined;
      if (bytes === undefined || bytes.length < KEY_ID_BYTES + 28)
        throw refused("it is not one of this server's");
      const ring = await keyring();
      const key = ring.keys.find(({ id }) => id.every((byte, index) => byte === bytes[index]));
      if (key === undefined) {
        if (ring.perProcess) warnForeignKey();
        throw refused("it was sealed with a key that this server does not have");
      }
      const payload = await key.aead.open(bytes.subarray(KEY_ID_BYTES), associated(binding));
      if (payload === undefined)
        throw refused("it was changed, or belongs to another caller, tool or set of arguments");
      const { expires, ...state } = JSON.parse(decoder.decode(payload)) as CallState & { expires: number };
      if (!(now() < expires)) throw refused("it has expired; start the call again");
      return state;
    },
  };
}

interface Key {
  readonly id: Uint8Array;
  readonly aead: Aead;
}

interface Keyring {
  readonly sealing: Key;
  readonly keys: readonly Key[];
  readonly perProcess: boolean;
}

async function buildKeyring(secrets: readonly string[] | undefined): Promise<Keyring> {
  const random = () => toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  const keys = await Promise.all((secrets ?? [random()]).map(deriveKey));
  return { sealing: keys[0]!, keys, perProcess: secrets === undefined };
}

async function deriveKey(secret: string): Promise<Key> {
  const digest = async (label: string) =>
    new Uint8Array(
      await crypto.subtle.digest("SHA-256", encoder.encode(`mica requestState 1 ${label}\n${secret}`)),
    );
  return { id: (await digest("id")).subarray(0, KEY_ID_BYTES), aead: await createAead(await digest("key")) };
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

let warned = false;

function warnForeignKey(): void {
  if (warned) return;
  warned = true;
  console.error(
    "A requestState from another process was refused: this server has a key of its own per process. " +
      "Give every replica the same MICA_STATE_KEY (or state.keys) so that one can finish what another began.",
  );
}

function refused(why: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid requestState: ${why}`);
}

/** One text for one request, whatever the order of the keys in its arguments. */
function associated({ principal, method, name, args }: StateBinding): Uint8Array {
  return encoder.encode(JSON.stringify([principal ?? null, method, name, sorted(args ?? {})]));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.keys(value)
    .sort()
    .map((key) => [key, sorted(value[key])]);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
    // Unused bits of the last character must be zero: one state has one spelling.
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
