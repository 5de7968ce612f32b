/** A `requestState` as somebody in the middle would change it: bytes, length, and what it says where it can be read. */
import { isObject, readJson } from "../../json.js";

export interface Forgery {
  /** What was done to it. */
  readonly how: string;
  readonly state: string;
}

/** Changes of each kind: enough to meet the part that is not protected, if there is one. */
const MOST_FLIPS = 6;
const MOST_EDITS = 6;

export function forgeries(state: string): Forgery[] {
  const all = [...edits(state), ...flips(state), ...cuts(state)];
  return all.filter(
    (one, index) => one.state !== state && all.findIndex(({ state: other }) => other === one.state) === index,
  );
}

/** One character each, never the last two: of Base64 they may hold bits that mean nothing. */
function flips(state: string): Forgery[] {
  const places = Array.from({ length: MOST_FLIPS }, (_, index) =>
    Math.floor(((index + 0.5) * (state.length - 2)) / MOST_FLIPS),
  );
  return [...new Set(places)]
    .filter((place) => place >= 0 && /[A-Za-z0-9]/.test(state[place] ?? ""))
    .map((place) => {
      const old = state[place] as string;
      // Of hexadecimal digits and of decimal ones alike, and not the same letter in another case.
      const other = old === "1" ? "2" : /\d/.test(old) ? "1" : old.toLowerCase() === "b" ? "c" : "b";
      return {
        how: `character ${place + 1} changed`,
        state: state.slice(0, place) + other + state.slice(place + 1),
      };
    });
}

function cuts(state: string): Forgery[] {
  if (state.length < 8) return [];
  return [{ how: "cut in half", state: state.slice(0, Math.floor(state.length / 2)) }];
}

type Encode = (text: string) => string;

/** As JSON, plain or in Base64, or in the second part of a JWT: every value that can be read is changed. */
function edits(state: string): Forgery[] {
  const [value, encode] = readable(state) ?? [];
  if (value === undefined || encode === undefined) return [];
  return changed(value)
    .slice(0, MOST_EDITS)
    .map(({ how, value: other }) => ({ how, state: encode(JSON.stringify(other)) }));
}

function readable(state: string): readonly [value: unknown, encode: Encode] | undefined {
  const plain = readJson(state);
  if (plain !== undefined && typeof plain.value === "object") return [plain.value, (text) => text];
  const parts = state.split(".");
  for (const [index, part] of parts.entries()) {
    if (!/^[A-Za-z0-9+/_-]{4,}={0,2}$/.test(part)) continue;
    const decoded = readJson(Buffer.from(part, "base64").toString("utf8"));
    // The first part of a JWT says how it is signed, and nothing of the state.
    if (!isObject(decoded?.value) || (parts.length === 3 && "alg" in decoded.value)) continue;
    const isUrl = !/[+/=]/.test(part);
    return [
      decoded.value,
      (text) =>
        parts.with(index, Buffer.from(text, "utf8").toString(isUrl ? "base64url" : "base64")).join("."),
    ];
  }
  return undefined;
}

interface Changed {
  readonly how: string;
  readonly value: unknown;
}

function changed(value: unknown, path = ""): Changed[] {
  if (typeof value === "string") return [{ how: `${path} changed`, value: `${value}x` }];
  if (typeof value === "number") return [{ how: `${path} changed`, value: value + 1 }];
  if (typeof value === "boolean") return [{ how: `${path} changed`, value: !value }];
  if (Array.isArray(value)) {
    return value.slice(0, 4).flatMap((one, index) =>
      changed(one, `${path}[${index}]`).map(({ how, value: other }) => ({
        how,
        value: value.with(index, other),
      })),
    );
  }
  if (!isObject(value) || path.length > 200) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    changed(one, path === "" ? name : `${path}.${name}`).map(({ how, value: other }) => ({
      how,
      value: { ...value, [name]: other },
    })),
  );
}
