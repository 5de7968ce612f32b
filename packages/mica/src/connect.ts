/** Connecting to a server by what one knows of it: a command, a URL, or a transport. */
import { type Client, createClient } from "./client/client.js";
import type { Fallback } from "./client/fallback.js";
import { type ClientOptions, readOptions } from "./client/options.js";
import { warner } from "./client/warnings.js";
import type { HttpTransportOptions } from "./http/client.js";
import type { HttpAuth } from "./http/client-auth.js";
import type { LaunchOptions } from "./stdio/launch-options.js";
import type { ClientTransport } from "./transport.js";

/** A server that is started as a child process, and spoken to over its standard streams. */
export type CommandTarget = LaunchOptions;

/** A server at a URL. */
export interface UrlTarget extends HttpTransportOptions {
  url: string | URL;
}

/** A server behind a transport made elsewhere, which from then on belongs to the client. */
export interface TransportTarget {
  transport: ClientTransport;
}

export interface ConnectOptions extends ClientOptions {
  /**
   * Credentials for a server at a URL, and signing in where it asks for that: what `oauth` and the other functions of
   * `mica-mcp/auth/client` return.
   */
  auth?: HttpAuth | undefined;
}

interface Opened {
  readonly transport: ClientTransport;
  /** For servers of earlier revisions. */
  readonly fallback?: Fallback;
}

export type ConnectTarget = string | URL | CommandTarget | UrlTarget | TransportTarget;

/**
 * Connects to an MCP server, of this revision or of an earlier one (`era`). Close the client when done; it then ends the process or the connections.
 *
 * @throws McpError `connect_failed` where the server cannot be started or reached, `unsupported_version` where it
 *   speaks no revision in common, or what else keeps it from answering `server/discover`.
 * @throws TypeError naming the argument that is wrong.
 * @example
 * await using client = await connect({ command: "node", args: ["server.js"] }, { name: "example", version: "1.0.0" });
 * const { tools } = await client.listTools();
 */
export async function connect(target: ConnectTarget, options: ConnectOptions): Promise<Client> {
  // Before anything is started.
  readOptions(options);
  const auth = options.auth ?? (isUrlTarget(target) ? target.auth : undefined);
  const { transport, fallback } = await openTransport(target, { ...options, auth });
  return createClient(transport, declaring(auth?.extensions, options), fallback);
}

/** Extensions are declared in the capabilities of every request, and never active by default. */
function declaring(extensions: HttpAuth["extensions"], options: ClientOptions): ClientOptions {
  if (extensions === undefined) return options;
  const { capabilities } = options;
  return {
    ...options,
    capabilities: { ...capabilities, extensions: { ...extensions, ...capabilities?.extensions } },
  };
}

function isUrlTarget(target: ConnectTarget): target is UrlTarget {
  return typeof target === "object" && target !== null && "url" in target;
}

/** Only what is used is loaded, and what earlier revisions need only where one is spoken. */
async function openTransport(target: ConnectTarget, { onWarning, auth }: ConnectOptions): Promise<Opened> {
  if (typeof target === "string" || target instanceof URL) return openUrl({ url: target, auth });
  if (isUrlTarget(target)) return openUrl({ ...target, auth });
  if (typeof target === "object" && target !== null) {
    // "Implementations using an STDIO transport ... retrieve credentials from the environment" (authorization).
    if (auth !== undefined) throw new TypeError("options.auth: applies to a URL only");
    if ("transport" in target) return { transport: target.transport };
    if ("command" in target) return openCommand(target, onWarning);
  }
  throw new TypeError("target: expected a URL, { url }, { command, args } or { transport }");
}

async function openCommand(target: CommandTarget, onWarning: ClientOptions["onWarning"]): Promise<Opened> {
  const { launchServer } = await import("./stdio/launch.js");
  let options = target;
  if (onWarning !== undefined) {
    const warn = warner(onWarning);
    const onStray = (text: string) =>
      warn("stray_output", `The server wrote what is no message to its stdout: ${text}`);
    options = { onStray, ...target };
  }
  const server = launchServer(options);
  const { command, args, cwd, env } = target;
  const fallback: Fallback = {
    key: JSON.stringify([command, args, cwd, env]),
    isProcess: true,
    async open(greeting, signal) {
      const { legacyStdio } = await import("./legacy/client/stdio.js");
      return legacyStdio(server, { ...greeting, signal });
    },
  };
  return { transport: server.transport, fallback };
}

async function openUrl({ url, ...options }: UrlTarget): Promise<Opened> {
  if (!/^https?:/i.test(String(url))) {
    const hint = "; a command is given as { command, args }";
    throw new TypeError(`target: expected an http or https URL, got ${JSON.stringify(String(url))}${hint}`);
  }
  const { httpTransport } = await import("./http/client.js");
  const transport = httpTransport(url, options);
  const fallback: Fallback = {
    key: String(url),
    isProcess: false,
    async open(greeting, signal, note) {
      const { legacyHttp } = await import("./legacy/client/http.js");
      const connection = await legacyHttp(url, options, { ...greeting, signal }, note);
      await transport.close();
      return connection;
    },
  };
  return { transport, fallback };
}
