/** A call as something to paste: a curl command, a mica command, a vitest file. Secrets become variables. */
import type { Client } from "mica-mcp/client";
import { httpHeaders } from "mica-mcp/testing";
import type { Arguments, GivenArguments } from "./arguments.js";
import { requestMeta } from "./request-meta.js";
import { isSecretName, isSecretVariable } from "./secrets.js";
import { shellWord, type Target } from "./target.js";
import { UsageError } from "./usage-error.js";

export interface CallToCopy {
  readonly target: Target;
  readonly client: Client;
  readonly tool: string;
  /** As they are sent. */
  readonly args: Arguments;
  readonly inputSchema: Record<string, unknown> | undefined;
  /** As they were typed. */
  readonly given: GivenArguments;
  /** Further words of the command line, for mica itself. */
  readonly optionWords: readonly string[];
  /** Whether somebody is signed in to the server, so that the call carries a token that is not shown. */
  readonly isSignedIn: boolean;
}

export interface Copied {
  readonly text: string;
  /** Variables that stand for secrets, to be set before it is used. */
  readonly variables: readonly string[];
}

/** @throws UsageError where curl cannot do it. */
export function curlCommand({ target, client, tool, args, inputSchema, isSignedIn }: CallToCopy): Copied {
  if (target.kind === "command") {
    throw new UsageError("--copy: curl speaks to URLs, and the target is a command; expected mica or vitest");
  }
  if (client.era.era === "legacy") {
    const why = `the server speaks ${client.protocolVersion}, where a call needs a session`;
    throw new UsageError(`--copy: ${why}; expected mica or vitest`);
  }
  const params = {
    name: tool,
    arguments: args,
    _meta: requestMeta(),
  };
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const variables: string[] = [];
  const given = headersOf(target.headers, isSignedIn).map(([name, value]) => {
    if (value !== undefined)
      return [name, shellWord(value === "" ? `${name};` : `${name}: ${value}`)] as const;
    const variable = variableFor(name);
    variables.push(variable);
    return [name, `"${name}: $${variable}"`] as const;
  });
  const own = Object.entries(httpHeaders(request, inputSchema)).map(
    ([name, value]) => [name, shellWord(`${name}: ${value}`)] as const,
  );
  const lines = [
    `curl -sS -g -N ${shellWord(target.url)}`,
    ...[...own, ...given].map(([, header]) => `-H ${header}`),
    `--data-raw ${shellWord(JSON.stringify(request))}`,
  ];
  return { text: `${lines.join(" \\\n  ")}\n`, variables };
}

export function micaCommand({ target, tool, args, given, optionWords }: CallToCopy): Copied {
  const variables: string[] = [];
  const words = ["mica", "call"];
  if (target.kind === "url") words.push(shellWord(target.url));
  words.push(shellWord(tool));
  if (given.base === undefined) {
    words.push(...given.pairs.map(({ name, text, raw }) => shellWord(`${name}${raw ? ":=" : "="}${text}`)));
  } else words.push("--args", shellWord(JSON.stringify(args)));
  words.push(...optionWords.map(shellWord));
  if (target.kind === "url") {
    // Whoever is signed in stays it, for mica.
    for (const [name, value] of headersOf(target.headers, false)) {
      if (value !== undefined) words.push("--header", shellWord(`${name}: ${value}`));
      else {
        variables.push(variableFor(name));
        words.push("--header", `"${name}: $${variableFor(name)}"`);
      }
    }
    return { text: `${words.join(" ")}\n`, variables };
  }
  for (const [name, value] of Object.entries(target.env)) {
    if (!isSecretVariable(name)) words.push("--env", shellWord(`${name}=${value}`));
    else {
      variables.push(name);
      words.push("--env", shellWord(name));
    }
  }
  if (target.cwd !== undefined) words.push("--cwd", shellWord(target.cwd));
  words.push("--", ...[target.command, ...target.args].map(shellWord));
  return { text: `${words.join(" ")}\n`, variables };
}

export function vitestFile({ target, client, tool, args, isSignedIn }: CallToCopy): Copied {
  const variables: string[] = [];
  const fromEnv = (name: string) => {
    variables.push(name);
    return `process.env[${JSON.stringify(name)}]`;
  };
  const members: string[] = [];
  if (target.kind === "url") {
    members.push(`url: ${literal(target.url)}`);
    const headers = headersOf(target.headers, isSignedIn).map(
      ([name, value]) =>
        `${literal(name)}: ${value === undefined ? `${fromEnv(variableFor(name))} ?? ""` : literal(value)}`,
    );
    if (headers.length > 0) members.push(`headers: { ${headers.join(", ")} }`);
  } else {
    members.push(`command: ${literal(target.command)}`, `args: ${literal(target.args)}`);
    const env = Object.entries(target.env).map(
      ([name, value]) => `${literal(name)}: ${isSecretVariable(name) ? fromEnv(name) : literal(value)}`,
    );
    if (env.length > 0) members.push(`env: { ${env.join(", ")} }`);
    if (target.cwd !== undefined) members.push(`cwd: ${literal(target.cwd)}`);
  }
  const era = client.era.branch === "forced" ? `, era: ${literal(client.era.era)}` : "";
  const tasks = mayGiveTasks(client) ? ", tasks: true" : "";
  const text = `import { connect } from "mica-mcp/client";
import { expect, it } from "vitest";

it(${literal(`calls ${tool}`)}, async () => {
  const client = await connect(
    { ${members.join(", ")} },
    { name: "test", version: "1.0.0"${era}${tasks} },
  );
  try {
    const result = await client.callTool(${literal(tool)}, ${indented(literal(args, 2))});
    expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
  } finally {
    await client.close();
  }
});
`;
  return { text, variables };
}

/** Whether a call may be answered with a task, for which a client has to be ready (SEP-2663). */
function mayGiveTasks({ serverCapabilities }: Client): boolean {
  return serverCapabilities.extensions?.["io.modelcontextprotocol/tasks"] !== undefined;
}

/** The headers that were given; undefined for a value that is a secret. */
function headersOf(
  given: Readonly<Record<string, string>>,
  isSignedIn: boolean,
): (readonly [name: string, value: string | undefined])[] {
  const headers = Object.entries(given).map(
    ([name, value]) => [name, isSecretName(name) ? undefined : value] as const,
  );
  return isSignedIn ? [...headers, ["Authorization", undefined]] : headers;
}

/** `X-API-Key` is in `$X_API_KEY`. */
function variableFor(header: string): string {
  return header.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** JSON as JavaScript, where one name means something else. */
function literal(value: unknown, indentation = 0): string {
  return JSON.stringify(value, null, indentation).replace(/"__proto__":/g, '["__proto__"]:');
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n    ");
}
