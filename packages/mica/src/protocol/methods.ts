/** THE table of methods. Adding a method touches one row here and one handler file. */

import { SKILLS_EXTENSION } from "./skills.js";
import { TASKS_EXTENSION } from "./tasks.js";

/** What the protocol says of one request method. */
export interface MethodRow {
  /** The server capability that must be declared before the method may be served. */
  readonly capability: "tools" | "resources" | "prompts" | "completions" | undefined;
  /** Whether complete results carry `ttlMs` and `cacheScope` (server/utilities/caching). */
  readonly cacheable: boolean;
  /** Whether the server may answer `input_required` (patterns/mrtr, Supported Requests). */
  readonly mayAskForInput: boolean;
  /** The member of `params` that the `Mcp-Name` header mirrors (transports/streamable-http). */
  readonly nameParam: "name" | "uri" | "taskId" | undefined;
  /** The extension that the method belongs to; undefined for methods of the protocol itself. */
  readonly extension: string | undefined;
}

export type Method =
  | "server/discover"
  | "tools/list"
  | "tools/call"
  | "resources/list"
  | "resources/templates/list"
  | "resources/read"
  | "prompts/list"
  | "prompts/get"
  | "completion/complete"
  | "subscriptions/listen"
  | "tasks/get"
  | "tasks/update"
  | "tasks/cancel"
  | "skills/list"
  | "skills/get"
  | "resources/directory/read";

const row = (
  capability: MethodRow["capability"],
  traits: {
    cacheable?: true;
    mayAskForInput?: true;
    nameParam?: MethodRow["nameParam"];
    extension?: string;
  } = {},
): MethodRow => ({
  capability,
  cacheable: traits.cacheable ?? false,
  mayAskForInput: traits.mayAskForInput ?? false,
  nameParam: traits.nameParam,
  extension: traits.extension,
});

export const METHODS: ReadonlyMap<string, MethodRow> = new Map<Method, MethodRow>([
  ["server/discover", row(undefined, { cacheable: true })],
  ["tools/list", row("tools", { cacheable: true })],
  ["tools/call", row("tools", { mayAskForInput: true, nameParam: "name" })],
  ["resources/list", row("resources", { cacheable: true })],
  ["resources/templates/list", row("resources", { cacheable: true })],
  ["resources/read", row("resources", { cacheable: true, mayAskForInput: true, nameParam: "uri" })],
  ["prompts/list", row("prompts", { cacheable: true })],
  ["prompts/get", row("prompts", { mayAskForInput: true, nameParam: "name" })],
  ["completion/complete", row("completions")],
  ["subscriptions/listen", row(undefined)],
  ["tasks/get", row(undefined, { nameParam: "taskId", extension: TASKS_EXTENSION })],
  ["tasks/update", row(undefined, { nameParam: "taskId", extension: TASKS_EXTENSION })],
  ["tasks/cancel", row(undefined, { nameParam: "taskId", extension: TASKS_EXTENSION })],
  ["skills/list", row(undefined, { cacheable: true, extension: SKILLS_EXTENSION })],
  ["skills/get", row(undefined, { cacheable: true, extension: SKILLS_EXTENSION })],
  ["resources/directory/read", row(undefined, { extension: SKILLS_EXTENSION })],
]);
