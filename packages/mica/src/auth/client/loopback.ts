/** Coming back from the browser to a program on the same machine: an address of this machine, on any port (RFC 8252, section 7.3). */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isLoopback } from "../../http/guard.js";
import type { Redirect, RedirectListener } from "./redirect.js";

export interface LoopbackOptions {
  /**
   * Shows a URL to the person: opens a browser, or prints it. It is an http or https URL of the authorization server.
   * Where it throws, signing in fails.
   */
  readonly open: (url: string) => void | Promise<void>;
  /** `127.0.0.1`, `[::1]`, or `localhost` where an authorization server insists on it. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: any that is free; one that the client was registered with before, where that is free. */
  readonly port?: number | undefined;
  /** Default `/callback`. */
  readonly path?: string | undefined;
  /** What the page calls the program that the person goes back to. Default "the program". */
  readonly programName?: string | undefined;
}

interface Waiting {
  readonly state: string;
  resolve(url: string): void;
}

/**
 * Takes the browser back at an address of this machine.
 *
 * @throws TypeError naming the option.
 * @example const redirect = loopback({ open: (url) => console.log(`Open ${url}`) });
 */
export function loopback(options: LoopbackOptions): Redirect {
  const { open, host = "127.0.0.1", port = 0, path = "/callback", programName = "the program" } = options;
  if (typeof open !== "function") throw new TypeError(`open: expected a function, got ${typeof open}`);
  if (typeof host !== "string" || !isLoopback(host)) {
    throw new TypeError(`host: expected 127.0.0.1, [::1] or localhost, got ${JSON.stringify(host)}`);
  }
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`port: expected a port, or 0 for any, got ${JSON.stringify(port)}`);
  }
  if (!/^\/[\w\-./]*$/.test(path))
    throw new TypeError(`path: expected a path like /callback, got ${JSON.stringify(path)}`);

  return {
    applicationType: "native",
    async listen(registered) {
      const { createServer } = await import("node:http");
      const servers: Server[] = [];
      let waiting: Waiting | undefined;
      let pending: ServerResponse | undefined;

      const serve = (request: IncomingMessage, response: ServerResponse) => {
        const target = `http://${hostOf(host)}${request.url}`;
        const url = URL.canParse(target) ? new URL(target) : undefined;
        if (url?.pathname !== path) return answer(response, 404, "There is nothing here.");
        if (request.method !== "GET") return answer(response, 405, "Only GET is answered here.");
        // Anybody on this machine can knock here: only who knows the state is let in.
        if (waiting === undefined || url.searchParams.get("state") !== waiting.state) {
          return answer(response, 400, "This is not the sign-in that is under way. Nothing was done.");
        }
        pending = response;
        const { resolve } = waiting;
        waiting = undefined;
        resolve(`${uri}${url.search}`);
      };

      const listenAt = async (wanted: number): Promise<number> => {
        const taken: Server[] = [];
        try {
          for (const address of addressesOf(host)) {
            const server = createServer(serve);
            const at = await listenOn(server, address, taken.length === 0 ? wanted : portOf(taken[0]!));
            if (at !== undefined) taken.push(server);
          }
        } catch (error) {
          for (const server of taken) server.close();
          throw error;
        }
        servers.push(...taken);
        return portOf(taken[0]!);
      };

      const bound = await firstFree(port === 0 ? [...portsOf(registered, host, path), 0] : [port], listenAt);
      const uri = `http://${hostOf(host)}:${bound}${path}`;

      const listener: RedirectListener = {
        uri,
        async visit(url, state, signal) {
          const back = new Promise<string>((resolve, reject) => {
            waiting = { state, resolve };
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          });
          back.catch(() => {});
          signal.throwIfAborted();
          // A program that opens pages may well run until the page is closed.
          const opened = Promise.resolve(open(url));
          return Promise.race([back, opened.then(() => back)]);
        },
        async close(wentWell) {
          waiting = undefined;
          if (pending !== undefined) {
            const text = wentWell
              ? `You are signed in. You can close this page and go back to ${programName}.`
              : `Signing in did not work. Go back to ${programName} for the reason.`;
            answer(pending, wentWell ? 200 : 400, text);
          }
          await Promise.all(
            servers.map((server) => {
              const closed = new Promise((resolve) => server.close(resolve));
              server.closeIdleConnections();
              // A browser may hold connections open that it never uses.
              const force = setTimeout(() => server.closeAllConnections(), 1_000);
              return closed.finally(() => clearTimeout(force));
            }),
          );
        },
      };
      return listener;
    },
  };
}

/** `localhost` may be either; a browser may try both. */
function addressesOf(host: string): string[] {
  const address = host.replace(/^\[|\]$/g, "");
  return address.toLowerCase() === "localhost" ? ["127.0.0.1", "::1"] : [address];
}

function hostOf(host: string): string {
  return host === "::1" ? "[::1]" : host;
}

/** Ports of redirect URIs that would be the same as ours. */
function portsOf(registered: readonly string[], host: string, path: string): number[] {
  return registered.flatMap((uri) => {
    const url = URL.canParse(uri) ? new URL(uri) : undefined;
    const isOurs = url?.protocol === "http:" && url.hostname === hostOf(host) && url.pathname === path;
    return isOurs && url.port !== "" ? [Number(url.port)] : [];
  });
}

async function firstFree(
  ports: readonly number[],
  listen: (port: number) => Promise<number>,
): Promise<number> {
  for (const [at, port] of ports.entries()) {
    try {
      return await listen(port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || at === ports.length - 1) throw error;
    }
  }
  throw new Error("There is no port to listen on");
}

/** Undefined where this machine has no such address, as some have no IPv6. */
function listenOn(server: Server, address: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = address === "::1" && ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(error.code ?? "");
      if (isMissing) resolve(undefined);
      else reject(error);
    });
    server.listen(port, address, () => resolve(portOf(server)));
  });
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}

/** Nothing of the request stands in it. */
function answer(response: ServerResponse, status: number, text: string): void {
  const safe = text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(
    `<!doctype html><meta charset="utf-8"><title>${status === 200 ? "Signed in" : "Sign-in"}</title><p>${safe}</p>\n`,
  );
}
