/** Sealing and opening: keys from secrets, and the text that a state travels as (see sealed-state.ts). */
import { ErrorCode, ProtocolError } from "../protocol/errors.js";
import { isObject } from "../protocol/jsonrpc.js";
import { type Aead, createAead } from "./aead.js";
import { fromBase64Url, toBase64Url } from "./base64url.js";
import type { CallState, StateBinding, StateOptions, StateSeal } from "./sealed-state.js";

/** What a state begins with, and by what a later form would be told apart. */
const PREFIX = "m1.";
const KEY_ID_BYTES = 4;
/** Of a box around nothing: nonce and tag. */
const LEAST_BOX_BYTES = 28;

/** @param secrets undefined for a key that lives and dies with the process */
export async function loadStateSeal(
  secrets: readonly string[] | undefined,
  { ttlMs, maxRounds, maxBytes }: Required<Omit<StateOptions, "keys">>,
  now: () => number,
): Promise<StateSeal> {
  const keys = await Promise.all((secrets ?? [randomSecret()]).map(deriveKey));
  const [sealing] = keys as [Key];

  function finish(box: Uint8Array): string {
    const sealed = PREFIX + toBase64Url(concat(sealing.id, box));
    if (sealed.length > maxBytes) {
      throw new Error(
        `requestState would take ${sealed.length} bytes; the limit is ${maxBytes}. Keep less in step results.`,
      );
    }
    return sealed;
  }

  function read(payload: Uint8Array | undefined): CallState {
    if (payload === undefined)
      throw refused("it was changed, or belongs to another caller, tool or set of arguments");
    const { expires, ...state } = JSON.parse(decode(payload)) as CallState & { expires: number };
    if (!(now() < expires)) throw refused("it has expired; start the call again");
    return state;
  }

  return {
    maxRounds,
    seal(state, binding) {
      const payload = encode(JSON.stringify({ ...state, expires: now() + ttlMs }));
      const box = sealing.aead.seal(payload, associated(binding));
      return box instanceof Promise ? box.then(finish) : finish(box);
    },
    open(sealed, binding) {
      if (typeof sealed !== "string") throw refused("it must be a string");
      if (sealed.length > maxBytes) throw refused(`it is longer than ${maxBytes} bytes`);
      const bytes = sealed.startsWith(PREFIX) ? fromBase64Url(sealed.slice(PREFIX.length)) : undefined;
      if (bytes === undefined || bytes.length < KEY_ID_BYTES + LEAST_BOX_BYTES)
        throw refused("it is not one of this server's");
      const key = keys.find(({ id }) => id.every((byte, index) => byte === bytes[index]));
      if (key === undefined) {
        if (secrets === undefined) warnForeignKey();
        throw refused("it was sealed with a key that this server does not have");
      }
      const payload = key.aead.open(bytes.subarray(KEY_ID_BYTES), associated(binding));
      return payload instanceof Promise ? payload.then(read) : read(payload);
    },
  };
}

interface Key {
  readonly id: Uint8Array;
  readonly aead: Aead;
}

function randomSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

async function deriveKey(secret: string): Promise<Key> {
  const digest = async (label: string) =>
    new Uint8Array(
      await crypto.subtle.digest("SHA-256", encoder.encode(`mica requestState 1 ${label}\n${secret}`)),
    );
  return { id: (await digest("id")).subarray(0, KEY_ID_BYTES), aead: await createAead(await digest("key")) };
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
  return encode(JSON.stringify([principal ?? null, method, name, sorted(args ?? {})]));
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

/** On Node, a Buffer is made several times faster than an array of its own. */
function encode(text: string): Uint8Array {
  return typeof Buffer === "undefined" ? encoder.encode(text) : Buffer.from(text);
}

function decode(bytes: Uint8Array): string {
  return typeof Buffer === "undefined" ? decoder.decode(bytes) : bufferOver(bytes).toString();
}

function bufferOver(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
