/** The scopes that a request needs: those of the tool, prompt or resources that it names (authorization). */
import { isObject } from "../protocol/jsonrpc.js";
import type { JSONRPCRequest } from "../protocol/types.js";
import type { Prompts } from "./prompts.js";
import type { Resources } from "./resources.js";
import type { Tools } from "./tools.js";

/** Where scopes are declared. */
interface Declared {
  readonly tools: Tools;
  readonly prompts: Prompts;
  readonly resources: Resources;
}

type Scopes = readonly string[];
const NONE: Scopes = [];

/** What is unknown needs none: that it is unknown is the error to answer. */
export function scopesOf(
  { method, params }: Pick<JSONRPCRequest, "method" | "params">,
  { tools, prompts, resources }: Declared,
): Scopes {
  const named = (value: unknown, find: (name: string) => { scopes: Scopes } | undefined): Scopes =>
    (typeof value === "string" ? find(value)?.scopes : undefined) ?? NONE;
  switch (method) {
    case "tools/call":
      return named(params?.["name"], tools.catalogue.get);
    case "prompts/get":
      return named(params?.["name"], prompts.catalogue.get);
    case "resources/read":
      return named(params?.["uri"], resources.find);
    case "completion/complete": {
      const ref = params?.["ref"];
      if (!isObject(ref)) return NONE;
      // Suggestions say what there is, as much as reading would.
      if (ref["type"] === "ref/prompt") return named(ref["name"], prompts.catalogue.get);
      return named(ref["uri"], (uri) => resources.templates.get(uri) ?? resources.resources.get(uri));
    }
    case "subscriptions/listen": {
      const filter = params?.["notifications"];
      const uris = isObject(filter) ? filter["resourceSubscriptions"] : undefined;
      if (!Array.isArray(uris)) return NONE;
      return [...new Set(uris.flatMap((uri: unknown) => named(uri, resources.find)))];
    }
    default:
      return NONE;
  }
}
