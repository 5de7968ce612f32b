/** `mica complete`: suggestions for an argument of a prompt or of a resource template. */
import type { CompleteResult, CompletionReference } from "mica-mcp/client";
import { McpError } from "mica-mcp/client";
import { isObject, shown } from "../../engine/json.js";
import { UsageError } from "../../engine/usage-error.js";
import type { Screen } from "../screen.js";
import { visibleLine } from "../terminal.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ operands, options, givenArguments, open }: VerbContext): Promise<Answer> {
  const [what = ""] = operands;
  const ref = readReference(what);
  const { pairs } = await givenArguments();
  const [pair, ...more] = pairs;
  if (pair === undefined || pair.raw) {
    throw new UsageError(
      "expected the argument to complete and what is typed of it: NAME=PREFIX, or NAME= for nothing",
    );
  }
  if (more[0] !== undefined) {
    const name = more[0].name;
    throw new UsageError(
      `${name}: one argument is completed at a time; one that is settled is --context ${name}=...`,
    );
  }
  const context = Object.fromEntries(options.context);
  const { client, call } = await open();
  const result = await client.complete(
    ref,
    { name: pair.name, value: pair.text },
    options.context.length > 0 ? context : undefined,
    call,
  );
  check(result);
  return { result, print: (screen) => print(screen, result) };
}

/** `prompt:NAME`, `template:URI`, or a template or URI by itself. */
function readReference(what: string): CompletionReference {
  const [, kind, name] = /^(prompt|template):(.+)$/s.exec(what) ?? [];
  if (kind === "prompt" && name !== undefined) return { type: "ref/prompt", name };
  if (kind === "template" && name !== undefined) return { type: "ref/resource", uri: name };
  if (/^[a-z][a-z\d+.-]*:./i.test(what) && !what.startsWith("prompt:"))
    return { type: "ref/resource", uri: what };
  throw new UsageError(
    `expected prompt:NAME, or a resource template like notes://{day}, got ${JSON.stringify(what)}`,
  );
}

function check({ completion }: CompleteResult): void {
  const { values }: { values?: unknown } = isObject(completion) ? completion : {};
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) return;
  throw new McpError(
    "invalid_response",
    `completion/complete: expected completion.values with texts, got ${shown(completion)}`,
  );
}

async function print({ out, say }: Screen, { completion }: CompleteResult): Promise<void> {
  const { values, total, hasMore } = completion;
  if (values.length === 0) return say("No completions.");
  await out.write(values.map((value) => `${visibleLine(value)}\n`).join(""));
  const isCut = hasMore === true || (typeof total === "number" && total > values.length);
  if (isCut)
    await say(typeof total === "number" ? `${values.length} of ${total}` : `${values.length} of more`);
}
