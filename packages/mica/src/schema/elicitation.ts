/**
 * From an author's schema to the restricted form of elicitation: a flat object of primitives and enumerations
 * (client/elicitation, Requested Schema). Constraints that the form cannot express (a pattern, a multiple) are left
 * out, since the answer is validated again; a shape that it cannot express is refused, naming the field.
 */
import type { JsonSchema } from "../protocol/features.js";
import type { ElicitationField, ElicitationSchema } from "../protocol/input-requests.js";
import { isObject } from "../protocol/jsonrpc.js";
import { advertise } from "./advertise.js";
import type { Schema } from "./standard.js";

/**
 * @param what the question, for messages: `elicit "when"`
 * @throws TypeError naming the field, where a form cannot ask for it: because of its shape, or because it is a secret.
 * @example toElicitationSchema(z.object({ startsAt: z.iso.datetime() }), 'elicit "when"')
 */
export function toElicitationSchema(schema: Schema, what: string): ElicitationSchema {
  const source = advertise(schema, "input", what);
  if (source["type"] !== "object" || !isObject(source["properties"])) {
    throw new TypeError(`${what}: the schema must describe an object with properties`);
  }
  const properties: Record<string, ElicitationField> = {};
  for (const [name, property] of Object.entries(source["properties"])) {
    const at = `${what}: field ${JSON.stringify(name)}`;
    if (!isObject(property)) throw new TypeError(`${at} must be a schema`);
    const field = reduceField(property, at);
    refuseSecret(name, field, property, at);
    properties[name] = field;
  }
  const required = source["required"] as string[] | undefined;
  return { type: "object", properties, ...(required?.length && { required: [...required] }) };
}

const FORMATS = new Set(["email", "uri", "date", "date-time"]);

function reduceField(source: JsonSchema, at: string): ElicitationField {
  const options = optionsOf(source, at);
  if (options !== undefined)
    return {
      type: "string",
      ...pick(source, "title", "description"),
      ...options,
      ...pick(source, "default"),
    };
  switch (source["type"]) {
    case "string": {
      const format = FORMATS.has(source["format"] as string) ? pick(source, "format") : {};
      return {
        type: "string",
        ...pick(source, "title", "description", "minLength", "maxLength"),
        ...format,
        ...pick(source, "default"),
      };
    }
    case "number":
    case "integer":
      return {
        type: source["type"],
        ...pick(source, "title", "description", "minimum", "maximum", "default"),
      };
    case "boolean":
      return { type: "boolean", ...pick(source, "title", "description", "default") };
    case "array":
      return reduceMultiple(source, at);
    default:
      throw inexpressible(source, at);
  }
}

function reduceMultiple(source: JsonSchema, at: string): ElicitationField {
  const items = source["items"];
  const options = isObject(items) ? optionsOf(items, at) : undefined;
  if (options === undefined)
    throw new TypeError(
      `${at}: a form can ask for a list only where its items are an enumeration of strings`,
    );
  const titled = options.oneOf;
  return {
    type: "array",
    ...pick(source, "title", "description", "minItems", "maxItems"),
    items: titled === undefined ? { type: "string", enum: options.enum } : { anyOf: titled },
    ...pick(source, "default"),
  };
}

interface Options {
  enum?: string[];
  /** Titles as earlier revisions had them; still in the specification, as `LegacyTitledEnumSchema`. */
  enumNames?: string[];
  oneOf?: { const: string; title: string }[];
}

/** The choices of an enumeration, as `enum` (with `enumNames`, where the author has them) or as titled `oneOf`; undefined where the schema is none. */
function optionsOf(source: JsonSchema, at: string): Options | undefined {
  const listed = source["enum"] ?? (Object.hasOwn(source, "const") ? [source["const"]] : undefined);
  if (listed !== undefined) {
    if (!Array.isArray(listed) || listed.some((option) => typeof option !== "string")) {
      throw new TypeError(`${at}: a form can offer strings only, got ${JSON.stringify(listed)}`);
    }
    const names = source["enumNames"];
    if (names === undefined) return { enum: listed as string[] };
    if (
      !Array.isArray(names) ||
      names.length !== listed.length ||
      names.some((it) => typeof it !== "string")
    ) {
      throw new TypeError(
        `${at}: enumNames must hold a string for each of the ${listed.length} options, got ${JSON.stringify(names)}`,
      );
    }
    return { enum: listed as string[], enumNames: names as string[] };
  }
  const branches = source["oneOf"] ?? source["anyOf"];
  if (!Array.isArray(branches)) return undefined;
  const options = branches.map((branch) => {
    const value = isObject(branch) ? branch["const"] : undefined;
    if (typeof value !== "string") throw inexpressible(source, at);
    return { const: value, title: String((branch as JsonSchema)["title"] ?? value) };
  });
  return { oneOf: options };
}

function pick(source: JsonSchema, ...keys: string[]): JsonSchema {
  const picked: JsonSchema = {};
  for (const key of keys) if (source[key] !== undefined) picked[key] = source[key];
  return picked;
}

function inexpressible(source: JsonSchema, at: string): TypeError {
  const kind = source["type"] ?? Object.keys(source)[0] ?? "anything";
  return new TypeError(
    `${at}: a form cannot ask for ${JSON.stringify(kind)}; it can ask for strings, numbers, integers, booleans and enumerations. Leave a field optional rather than nullable.`,
  );
}

const SECRET =
  /\b(pass ?words?|pass ?phrase|pass ?code|pwd|secrets?|api ?keys?|(access|refresh|auth|bearer|session|id) ?tokens?|token|credentials?|private ?key|(credit|debit|bank|payment) ?card|card ?(number|no)|card|cvv|cvc|pin( ?code)?|iban)\b/i;

/** "Servers MUST NOT use form mode elicitation to request sensitive information" (client/elicitation). */
function refuseSecret(name: string, field: ElicitationField, source: JsonSchema, at: string): void {
  const isFreeText =
    (field.type === "string" || field.type === "number" || field.type === "integer") &&
    !field["enum"] &&
    !field["oneOf"];
  if (!isFreeText) return;
  const title = typeof source["title"] === "string" ? source["title"] : "";
  if (
    source["format"] !== "password" &&
    !source["writeOnly"] &&
    !SECRET.test(words(name)) &&
    !SECRET.test(words(title))
  )
    return;
  throw new TypeError(
    `${at} looks like a secret, and a form must not ask for one: it would pass through the client. Use elicitUrl to send the person to a page of yours.`,
  );
}

/** `apiKey` and `API_KEY` as `api Key` and `API KEY`. */
function words(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_\-.\s]+/g, " ");
}
