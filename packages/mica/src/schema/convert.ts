/** From a library's schema to JSON Schema, converted by the library itself, or an error that names the place. */
import type { JsonSchema } from "../protocol/features.js";
import { findMark, findPart, MARK } from "./inexpressible.js";
import type { StandardSchema } from "./standard.js";

type Direction = "input" | "output";

const TARGET = "draft-2020-12";

/**
 * The JSON Schema of a library's schema.
 *
 * @throws TypeError naming `what` and the path, where JSON Schema cannot express it.
 */
export function convert(schema: StandardSchema, direction: Direction, what: string): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined) {
    const hint =
      vendor === "valibot"
        ? "wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema"
        : "use a version of the library that implements Standard JSON Schema, or give a JSON Schema object";
    throw new TypeError(`${what}: this ${vendor} schema cannot describe itself as JSON Schema; ${hint}`);
  }
  try {
    return jsonSchema[direction]({ target: TARGET, libraryOptions: STRICT[vendor] });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const path = locate(schema, direction);
    throw new TypeError(`${what}: JSON Schema cannot express ${path || "the schema"}: ${reason}`, { cause });
  }
}

/** Like {@link convert}, undefined where it is impossible. */
export function tryConvert(
  schema: StandardSchema,
  direction: Direction,
  libraryOptions = STRICT[schema["~standard"].vendor],
): JsonSchema | undefined {
  try {
    return schema["~standard"].jsonSchema?.[direction]({ target: TARGET, libraryOptions });
  } catch {
    return undefined;
  }
}

function locate(schema: StandardSchema, direction: Direction): string {
  const marking = MARKING[schema["~standard"].vendor];
  if (marking !== undefined) return findMark(tryConvert(schema, direction, marking)) ?? "";
  return findPart(schema, (part) => tryConvert(part, direction) === undefined) ?? "";
}

/** What arktype hands over where JSON Schema has nothing for a type. */
interface ArktypeGap {
  readonly code: string;
  readonly base: object;
  readonly unit?: unknown;
  readonly domain?: string;
  readonly proto?: { readonly name: string };
}

/** What valibot hands over for each schema and action, with what was wrong with it. */
interface ValibotNode {
  readonly jsonSchema: object;
  readonly errors?: readonly string[];
}

/** An arktype fallback for everything that would be lost: what is merely narrowed or parsed is kept as it is. */
function arktypeFallback(gap: (gap: ArktypeGap) => unknown): Record<string, unknown> {
  const unit = (found: ArktypeGap) => (found.unit === undefined ? found.base : gap(found));
  return { fallback: { date: gap, proto: gap, domain: gap, symbolKey: gap, unit } };
}

/** A check without a JSON Schema is left to validation, as zod and arktype leave it. */
const overrideAction = ({ jsonSchema, errors }: ValibotNode) => (errors ? jsonSchema : undefined);

type LibraryOptions = Readonly<Record<string, Record<string, unknown>>>;

/** By themselves arktype lets everything pass that it cannot express, and valibot refuses checks that it cannot. */
const STRICT: LibraryOptions = {
  arktype: arktypeFallback(({ code, unit, domain, proto }) => {
    throw new Error(`JSON has no ${domain ?? proto?.name ?? (code === "unit" ? String(unit) : code)}`);
  }),
  valibot: { overrideAction },
};

/** The same conversion, with a mark wherever {@link STRICT} throws. */
const MARKING: LibraryOptions = {
  arktype: arktypeFallback(({ base }) => ({ ...base, [MARK]: true })),
  valibot: {
    overrideAction,
    errorMode: "ignore",
    overrideSchema: ({ jsonSchema, errors }: ValibotNode) =>
      errors ? { ...jsonSchema, [MARK]: true } : undefined,
  },
};
