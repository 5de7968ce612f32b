/** THE table of verbs. Adding a verb is one row here and one file in verbs/. */
import { ANSWERING, AUDITING, type OptionRow, SIGNING_IN, type SpecialOption } from "./option-rows.js";
import type { LocalVerbModule, VerbModule } from "./verb.js";

interface Row {
  readonly name: string;
  readonly summary: string;
  /** Operands after the target, each required. */
  readonly takes: readonly string[];
  /** One more operand, which may be left out with all that follows it. */
  readonly mayTake?: string;
  /** Whether `name=value` pairs may follow. */
  readonly pairs?: true;
  readonly options?: readonly SpecialOption[];
  /** Whether it waits for what the server says by itself, without a word about that. */
  readonly listens?: true;
  /** Whether it calls a tool, and waits for the task that this may become. */
  readonly tasks?: true;
  /** The only kind of target that it is for. */
  readonly only?: "url" | "command";
  /** Of the options that every verb takes, those that mean nothing here. */
  readonly without?: readonly string[];
  readonly examples: readonly string[];
}

/** What is done with a server. Its file is loaded only when it is known that it will run. */
export interface ServerVerb extends Row {
  readonly local?: undefined;
  readonly load: () => Promise<VerbModule>;
}

/** What is done with files: there is no target, and what follows `--` is the verb's own matter. */
export interface LocalVerb extends Row {
  readonly local: true;
  readonly load: () => Promise<LocalVerbModule>;
}

export type VerbRow = ServerVerb | LocalVerb;

/** Of the options that are no special ones, those that mean something where there is no server. */
const WITHOUT_SERVER = ["json", "no-color", "help", "version"];

const FOR_COMMANDS = ["env", "cwd"];
const FOR_URLS = ["header"];

export function applies({ name, special }: OptionRow, verb: VerbRow): boolean {
  if (special) return verb.options?.includes(name as SpecialOption) ?? false;
  if (verb.without?.includes(name)) return false;
  if (verb.only === "url" && FOR_COMMANDS.includes(name)) return false;
  if (verb.only === "command" && FOR_URLS.includes(name)) return false;
  return !verb.local || WITHOUT_SERVER.includes(name);
}

export const VERBS: readonly VerbRow[] = [
  {
    name: "probe",
    summary: "what a server is: versions, capabilities, instructions, how much it offers",
    takes: [],
    examples: ["mica probe https://example.com/mcp", "mica probe -- node server.js"],
    load: () => import("./verbs/probe.js"),
  },
  {
    name: "tools",
    summary: "list the tools",
    takes: [],
    examples: ["mica tools -- node server.js --flag", "mica tools http://127.0.0.1:8931/mcp --verbose"],
    load: () => import("./verbs/tools.js"),
  },
  {
    name: "call",
    summary: "call a tool",
    takes: ["TOOL"],
    pairs: true,
    tasks: true,
    options: ["args", "out", "copy", ...ANSWERING],
    examples: [
      'mica call http://127.0.0.1:8931/mcp open_incident title="Queue backed up" severity=sev2',
      "mica call search tag=db tag=queue since:=null -- node server.js",
      "mica call create_event title=Standup --answer when.startsAt=2026-07-28T09:00:00Z -- node server.js",
    ],
    load: () => import("./verbs/call.js"),
  },
  {
    name: "resources",
    summary: "list the resources and resource templates",
    takes: [],
    examples: ["mica resources -- node server.js"],
    load: () => import("./verbs/resources.js"),
  },
  {
    name: "read",
    summary: "read a resource",
    takes: ["URI"],
    options: ["out", ...ANSWERING],
    examples: [
      "mica read http://127.0.0.1:8931/mcp incidents://open",
      "mica read file:///logo.png -- node server.js > logo.png",
    ],
    load: () => import("./verbs/read.js"),
  },
  {
    name: "prompts",
    summary: "list the prompts",
    takes: [],
    examples: ["mica prompts -- node server.js"],
    load: () => import("./verbs/prompts.js"),
  },
  {
    name: "prompt",
    summary: "get a prompt",
    takes: ["PROMPT"],
    pairs: true,
    options: ["args", "out", ...ANSWERING],
    examples: ["mica prompt http://127.0.0.1:8931/mcp prepare_week focus=writing"],
    load: () => import("./verbs/prompt.js"),
  },
  {
    name: "complete",
    summary: "what may follow: completions of an argument of a prompt or resource template",
    takes: ["REF"],
    pairs: true,
    options: ["context"],
    examples: [
      "mica complete http://127.0.0.1:8931/mcp prompt:prepare_week focus=wr",
      "mica complete 'notes://{day}/{title}' title=St --context day=2026-07-28 -- node server.js",
    ],
    load: () => import("./verbs/complete.js"),
  },
  {
    name: "listen",
    summary: "show changes as the server tells of them, until Ctrl-C",
    takes: [],
    listens: true,
    options: ["resource", "list", "for", "count"],
    examples: [
      "mica listen https://example.com/mcp",
      "mica listen http://127.0.0.1:8931/mcp --resource incidents://open --for 60",
    ],
    load: () => import("./verbs/listen.js"),
  },
  {
    name: "raw",
    summary: "speak to a server by hand, and see what is on the wire",
    takes: [],
    options: ["file", "as-is", "for"],
    examples: ["mica raw https://example.com/mcp", "mica raw --file messages.jsonl -- node server.js"],
    load: () => import("./verbs/raw.js"),
  },
  {
    name: "record",
    summary: "stand between a host and a server, and write down every message",
    takes: ["FILE"],
    without: ["json", "timeout", "era", "progress", "no-progress", "log"],
    examples: [
      "mica record session.jsonl -- node server.js",
      "mica record https://example.com/mcp session.jsonl",
    ],
    load: () => import("./verbs/record.js"),
  },
  {
    name: "replay",
    summary: "send what was recorded again, and compare the answers",
    takes: ["FILE"],
    options: ["ignore"],
    examples: [
      "mica replay session.jsonl -- node server.js",
      "mica replay http://127.0.0.1:8931/mcp session.jsonl --ignore '**.createdAt'",
    ],
    load: () => import("./verbs/replay.js"),
  },
  {
    name: "login",
    summary: "sign in to a server at a URL, for all the commands to come",
    takes: [],
    only: "url",
    options: ["again", ...SIGNING_IN],
    examples: [
      "mica login https://example.com/mcp",
      "mica login https://example.com/mcp --client-id my-app --issuer https://auth.example.com",
    ],
    load: () => import("./verbs/login.js"),
  },
  {
    name: "logout",
    summary: "revoke what was issued for a server, and forget it",
    takes: [],
    only: "url",
    examples: ["mica logout https://example.com/mcp"],
    load: () => import("./verbs/logout.js"),
  },
  {
    name: "whoami",
    summary: "who is signed in to a server, as what, and for how long",
    takes: [],
    only: "url",
    examples: ["mica whoami https://example.com/mcp"],
    load: () => import("./verbs/whoami.js"),
  },
  {
    name: "auth",
    summary: "walk the whole ladder of signing in to a server, and draw each step; nothing is kept",
    takes: [],
    only: "url",
    options: SIGNING_IN,
    examples: [
      "mica auth https://example.com/mcp",
      "mica auth http://127.0.0.1:8931/mcp --no-open --verbose",
    ],
    load: () => import("./verbs/auth.js"),
  },
  {
    name: "audit",
    summary: "what is wrong with a server: rules of the specification, with the proof and the fix",
    takes: [],
    options: AUDITING,
    examples: [
      "mica audit -- node server.js",
      "mica audit https://example.com/mcp --strict --format sarif > audit.sarif",
      "mica audit --baseline audit.json -- node server.js",
    ],
    load: () => import("./verbs/audit.js"),
  },
  {
    name: "cost",
    summary: "what the catalogue costs in tokens, what to cut, and what the result of a call costs",
    takes: [],
    mayTake: "TOOL",
    pairs: true,
    tasks: true,
    options: ["window", "budget", "diff", "args", ...ANSWERING],
    examples: [
      "mica cost -- node server.js",
      "mica cost https://example.com/mcp --budget 2000",
      "mica cost search tag=db -- node server.js",
      "mica cost --diff before.json -- node server.js",
    ],
    load: () => import("./verbs/cost.js"),
  },
  {
    name: "start",
    summary: "how long a server takes from its start to its answers, its memory, what it loads and installs",
    takes: [],
    mayTake: "TOOL",
    only: "command",
    pairs: true,
    options: ["runs", "vs", "args"],
    examples: [
      "mica start -- node server.js",
      "mica start search tag=db --runs 20 -- npx -y some-server",
      'mica start --vs "node old.js" -- node new.js',
      "mica start -- node new.js --vs -- node old.js",
    ],
    load: () => import("./verbs/start.js"),
  },
  {
    name: "load",
    summary: "requests per second, latencies and errors under load, by connections or at a constant rate",
    takes: [],
    mayTake: "TOOL",
    pairs: true,
    options: ["connections", "rate", "seconds", "requests", "method", "allow-writes", "allow-remote", "args"],
    examples: [
      "mica load http://127.0.0.1:8931/mcp search tag=db --connections 16",
      "mica load search tag=db --rate 200 --seconds 30 -- node server.js",
      "mica load --method tools/list --requests 1000 -- node server.js",
    ],
    load: () => import("./verbs/load.js"),
  },
  {
    name: "build",
    summary: "bundle a server of yours into one minified file, which starts faster; measures what it saves",
    local: true,
    takes: ["ENTRY"],
    options: ["to", "external", "no-measure"],
    examples: [
      "mica build src/server.ts",
      "mica build src/server.ts --to dist/server.mjs -- --database test.sqlite",
    ],
    load: () => import("./verbs/build.js"),
  },
];
