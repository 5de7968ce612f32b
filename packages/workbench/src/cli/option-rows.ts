/** The options of the command: one row each, and which verbs take them. */
export interface OptionRow {
  readonly name: string;
  readonly short?: string;
  /** Names the value; without it the option is a switch. */
  readonly value?: string;
  readonly repeatable?: true;
  /** Given only to verbs that name it. */
  readonly special?: true;
  readonly help: string;
}

export const OPTION_ROWS = [
  {
    name: "args",
    value: "JSON",
    special: true,
    help: "all arguments as a JSON object, @FILE, or - for stdin; sent unchecked",
  },
  {
    name: "out",
    value: "DIR",
    special: true,
    help: "save what is returned into DIR; nothing is overwritten",
  },
  {
    name: "to",
    value: "FILE",
    special: true,
    help: "the file to write; default: dist/ENTRY.mjs in its package",
  },
  {
    name: "external",
    value: "PACKAGE",
    special: true,
    repeatable: true,
    help: "leave a package outside, besides native addons",
  },
  { name: "no-measure", special: true, help: "do not start the server to measure it" },
  {
    name: "window",
    value: "TOKENS",
    special: true,
    help: "the context window that shares are of; default: 200000",
  },
  {
    name: "budget",
    value: "TOKENS",
    special: true,
    help: "fail with exit code 10 where instructions and tools cost more",
  },
  { name: "diff", value: "FILE", special: true, help: "compare with what --json printed before" },
  { name: "runs", value: "N", special: true, help: "how often to start it, from 1 to 1000; default: 10" },
  {
    name: "vs",
    value: "COMMAND",
    special: true,
    help: "another command to start in turns; or, after the command, --vs -- COMMAND [ARGS]",
  },
  {
    name: "connections",
    value: "N",
    special: true,
    help: "requests in flight at a time, up to 10000; default: 8, with --rate 1000",
  },
  { name: "rate", value: "N", special: true, help: "requests per second, sent whether or not answers come" },
  { name: "seconds", value: "N", special: true, help: "how long, up to 600; default: 10" },
  { name: "requests", value: "N", special: true, help: "how many at most, up to 5000000" },
  { name: "method", value: "METHOD", special: true, help: "a method to send instead of calling a tool" },
  { name: "allow-remote", special: true, help: "send load to a host that is not this machine" },
  {
    name: "answer",
    value: "KEY.FIELD=VALUE",
    repeatable: true,
    special: true,
    help: "answer what the server asks; or KEY=accept, KEY=decline, KEY=cancel",
  },
  { name: "answers", value: "FILE", special: true, help: "answers as JSON, by key" },
  { name: "decline", special: true, help: "decline what --answer and --answers leave open" },
  { name: "no-ask", special: true, help: "tell the server that nobody can be asked" },
  { name: "no-open", special: true, help: "show pages that the server wants opened, and open none" },
  { name: "root", value: "DIR", repeatable: true, special: true, help: "a directory to tell the server of" },
  { name: "scope", value: "SCOPE", repeatable: true, special: true, help: "a scope to ask for in any case" },
  {
    name: "client-id",
    value: "ID",
    special: true,
    help: "a client id that was registered beforehand; its secret in MICA_CLIENT_SECRET",
  },
  { name: "issuer", value: "URL", special: true, help: "the authorization server that --client-id is for" },
  { name: "client-metadata", value: "URL", special: true, help: "a document that describes the client" },
  { name: "port", value: "PORT", special: true, help: "where the browser comes back to; default: any port" },
  { name: "again", special: true, help: "sign in although somebody is signed in" },
  { name: "strict", special: true, help: "warnings fail as well" },
  {
    name: "format",
    value: "FORMAT",
    special: true,
    help: "text (default), json, sarif or junit",
  },
  { name: "baseline", value: "FILE", special: true, help: "findings that are known and do not fail" },
  { name: "write-baseline", value: "FILE", special: true, help: "write what is found as a baseline" },
  { name: "rule", value: "ID", repeatable: true, special: true, help: "run this rule only" },
  { name: "skip", value: "ID", repeatable: true, special: true, help: "do not run this rule" },
  {
    name: "allow-writes",
    value: "TOOL",
    repeatable: true,
    special: true,
    help: "a tool to call although it is not annotated as read-only",
  },
  {
    name: "token",
    value: "NAME=VALUE",
    repeatable: true,
    special: true,
    help: "a token for the authorization rules: valid, expired, wrong-audience, no-scope",
  },
  {
    name: "copy",
    value: "AS",
    special: true,
    help: "do not call; print the call to reuse as curl, mica or vitest",
  },
  {
    name: "context",
    value: "NAME=VALUE",
    repeatable: true,
    special: true,
    help: "an argument that is settled already",
  },
  {
    name: "resource",
    value: "URI",
    repeatable: true,
    special: true,
    help: "tell of changes of this resource",
  },
  {
    name: "list",
    value: "NAME",
    repeatable: true,
    special: true,
    help: "tell of changes of this list: tools, prompts or resources (all three where nothing else is asked for)",
  },
  { name: "for", value: "SECONDS", special: true, help: "end after so long" },
  { name: "count", value: "N", special: true, help: "end after so many events" },
  {
    name: "file",
    value: "FILE",
    special: true,
    help: "send the messages of a file, one a line; - for stdin",
  },
  { name: "as-is", special: true, help: "send exactly what is written, and fill in nothing" },
  {
    name: "ignore",
    value: "PATH",
    repeatable: true,
    special: true,
    help: "a member of messages that may differ, like result.structuredContent.id; * is one level, ** any number",
  },
  { name: "json", help: "print JSON for scripts, failures included" },
  { name: "verbose", help: "show all details, the server's stderr and its notifications" },
  { name: "timeout", value: "SECONDS", help: "longest wait for an answer or for progress (default 60)" },
  { name: "era", value: "ERA", help: "auto (default), modern or legacy: skip the probe and speak that era" },
  { name: "progress", help: "report progress on stderr even where it is no terminal" },
  { name: "no-progress", help: "do not ask for progress" },
  { name: "log", value: "LEVEL", help: "ask for the server's log messages, from debug to emergency" },
  { name: "header", value: "'NAME: VALUE'", repeatable: true, help: "a header for a URL" },
  {
    name: "env",
    value: "NAME[=VALUE]",
    repeatable: true,
    help: "a variable for a command; without a value, yours",
  },
  { name: "cwd", value: "DIR", help: "the directory to start a command in" },
  { name: "no-color", help: "no colours; so does the variable NO_COLOR" },
  { name: "help", short: "h", help: "show help, for one verb after its name" },
  { name: "version", short: "V", help: "show the version" },
] as const satisfies readonly OptionRow[];

export type SpecialOption =
  | "args"
  | "out"
  | "to"
  | "external"
  | "no-measure"
  | "window"
  | "budget"
  | "diff"
  | "runs"
  | "vs"
  | "connections"
  | "rate"
  | "seconds"
  | "requests"
  | "method"
  | "allow-remote"
  | "answer"
  | "answers"
  | "decline"
  | "no-ask"
  | "no-open"
  | "root"
  | "scope"
  | "client-id"
  | "issuer"
  | "client-metadata"
  | "port"
  | "again"
  | "strict"
  | "format"
  | "baseline"
  | "write-baseline"
  | "rule"
  | "skip"
  | "allow-writes"
  | "token"
  | "copy"
  | "context"
  | "resource"
  | "list"
  | "for"
  | "count"
  | "file"
  | "as-is"
  | "ignore";

/** The options of verbs in which a server may ask for input (patterns/mrtr, Supported Requests). */
export const ANSWERING = [
  "answer",
  "answers",
  "decline",
  "no-ask",
  "no-open",
  "root",
] as const satisfies readonly SpecialOption[];

/** The options of verbs that sign in. */
export const SIGNING_IN = [
  "scope",
  "client-id",
  "issuer",
  "client-metadata",
  "port",
  "no-open",
] as const satisfies readonly SpecialOption[];

/** The options of `mica audit`. */
export const AUDITING = [
  "strict",
  "format",
  "baseline",
  "write-baseline",
  "rule",
  "skip",
  "allow-writes",
  "token",
] as const satisfies readonly SpecialOption[];
