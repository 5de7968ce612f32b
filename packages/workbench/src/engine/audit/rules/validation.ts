/** Validating with the schemas of a server that is not trusted: their patterns are programs, and may run for ever. */
import { Script } from "node:vm";
import { compileJsonSchema, type Problem } from "mica-mcp/schema";

/** Milliseconds for one value. */
const MOST_MS = 1_000;

/** Runs what it is given, so that it can be ended: a regular expression listens to nothing else. */
const SCRIPT = new Script("run()");

/** Undefined where it cannot be told: the schema leads out of itself, is of no known dialect, or takes too long. */
export function problemsOfValue(
  value: unknown,
  schema: Readonly<Record<string, unknown>>,
): readonly Problem[] | undefined {
  try {
    const run = () => compileJsonSchema(schema)(value);
    return SCRIPT.runInNewContext({ run }, { timeout: MOST_MS }) as readonly Problem[];
  } catch {
    return undefined;
  }
}
