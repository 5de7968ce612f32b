/** Expanding URI templates (RFC 6570, section 3). */
import type { Expression, Variable } from "./uri-template.js";

/** Values to expand: strings, lists, and names with values (associative arrays). */
export type TemplateValues = Readonly<
  Record<string, string | readonly string[] | Readonly<Record<string, string>> | undefined>
>;

type Value = string | readonly string[] | Readonly<Record<string, string>>;

export function expandExpression({ operator, variables }: Expression, values: TemplateValues): string {
  const pieces: string[] = [];
  for (const variable of variables) {
    const { name } = variable;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null) continue;
    const encode = (text: string) => encodeValue(text, operator.allowReserved, name);
    const label = (key: string, text: string) =>
      text === "" ? `${key}${operator.ifEmpty}` : `${key}=${text}`;
    if (typeof value === "string") {
      const text = encode(cut(value, variable));
      pieces.push(operator.named ? label(name, text) : text);
      continue;
    }
    const members = membersOf(value, name);
    if (members.length === 0) continue;
    if (variable.explode) {
      for (const [key, text] of members) {
        if (key !== undefined)
          pieces.push(operator.named ? label(encode(key), encode(text)) : `${encode(key)}=${encode(text)}`);
        else pieces.push(operator.named ? label(name, encode(text)) : encode(text));
      }
    } else {
      const text = members.map(([key, item]) =>
        key === undefined ? encode(item) : `${encode(key)},${encode(item)}`,
      );
      pieces.push(operator.named ? label(name, text.join(",")) : text.join(","));
    }
  }
  return pieces.length ? operator.first + pieces.join(operator.separator) : "";
}

/** What a literal reads like in a URI: characters beyond ASCII are encoded (section 3.1). */
export function expandLiteral(literal: string): string {
  return encodeBeyondAscii(literal);
}

/** Percent-encodes what is not ASCII. @throws URIError where a surrogate stands alone. */
export function encodeBeyondAscii(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the bounds of ASCII
  return text.replace(/[^\x00-\x7f]+/g, encodeURIComponent);
}

/** A prefix counts characters, not bytes, and means nothing for composite values (section 2.4.1). */
function cut(value: string, { maxLength }: Variable): string {
  return maxLength === undefined ? value : [...value].slice(0, maxLength).join("");
}

function membersOf(value: Exclude<Value, string>, name: string): [key: string | undefined, value: string][] {
  if (Array.isArray(value)) return value.map((item: string) => [undefined, item]);
  if (typeof value === "object") return Object.entries(value);
  throw new TypeError(
    `the value of ${name} must be a string, a list or an object of strings, got ${typeof value}`,
  );
}

/** Unreserved characters pass; reserved ones and encoded ones only where the operator says so (section 3.2.1). */
function encodeValue(text: string, allowReserved: boolean, name: string): string {
  if (typeof text !== "string")
    throw new TypeError(`the value of ${name} must hold strings, got ${typeof text}`);
  if (!text.isWellFormed()) {
    throw new TypeError(`the value of ${name} has half a surrogate pair: ${JSON.stringify(text)}`);
  }
  if (!allowReserved) return escapeAll(text);
  return text.replace(/%[0-9A-Fa-f]{2}|%|[^%:/?#[\]@!$&'()*+,;=]+/g, (piece) =>
    piece.length === 3 && piece.startsWith("%") ? piece : escapeAll(piece),
  );
}

function escapeAll(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
