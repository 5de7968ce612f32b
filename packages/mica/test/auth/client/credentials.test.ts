/** The seam between HTTP and credentials: where they go, where they never go, and how often a request is sent. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../../src/connect.js";
import { memoryStore, oauth } from "../../../src/entry/auth/client.js";
import { httpTransport } from "../../../src/http/client.js";
import type { HttpAuth } from "../../../src/http/client-auth.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { someone } from "./person.js";

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});
const self = { name: "test", version: "1.0.0" };

describe("a token", () => {
  it("goes with every request to its server, in the header and nowhere else", async () => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    await call(client, "read");
    await client.listTools({ fresh: true });
    const [token] = as.tokens.keys();
    const posts = server.posts().slice(1);
    expect(posts.length).toBeGreaterThan(2);
    for (const { headers, path, body } of posts) {
      expect(headers.authorization).toBe(`Bearer ${token}`);
      expect(path + JSON.stringify(body)).not.toContain(token);
    }
    // Metadata is public.
    for (const { headers, method } of server.received) {
      if (method === "GET") expect(headers.authorization).toBeUndefined();
    }
  });

  it("does not follow a redirect, to wherever", async () => {
    const evil = await guardedServer(as);
    const client = await open(server.url, { auth: oauth(someone().options) });
    for (const status of [301, 302, 303, 307, 308]) {
      server.intercept = () => ({ status, headers: { location: evil.url } });
      await expect(call(client, "read")).rejects.toMatchObject({
        code: "connect_failed",
        message: expect.stringContaining("redirects are not followed"),
      });
    }
    expect(evil.received).toEqual([]);
  });

  it("is not sent to another path, port or host of the same store", async () => {
    const store = memoryStore();
    const { options } = someone({ store });
    await open(server.url, { auth: oauth(options) });
    const tokens = [...as.tokens.keys()];
    const others = [await guardedServer(as), await guardedServer(as, { path: "/mcp/below" })];
    const unattended = () => oauth({ clientName: "Test", store });
    for (const other of others) await open(other.url, { auth: unattended() }).catch(() => {});
    await open(`${server.origin}/mcp2`, { auth: unattended() }).catch(() => {});
    await open(server.url.replace("127.0.0.1", "localhost"), { auth: unattended() }).catch(() => {});
    const seen = [...others.flatMap(({ received }) => received), ...server.received.slice(-4)]
      .filter(({ path, headers }) => path !== "/mcp" || !headers.host?.startsWith("127.0.0.1"))
      .map(({ headers }) => JSON.stringify(headers));
    for (const token of tokens) for (const headers of seen) expect(headers).not.toContain(token);
  });

  it("is not given for a request to another origin, whoever asks", async () => {
    const auth = oauth(someone().options);
    await auth.signIn(server.url);
    const at = (url: string) =>
      auth.authorize({ server: new URL(server.url), url: new URL(url), method: "POST" });
    expect(await at(`${server.origin}/messages`)).toEqual({
      authorization: `Bearer ${[...as.tokens.keys()][0]}`,
    });
    for (const url of [
      "https://evil.example/mcp",
      server.url.replace("127.0.0.1", "localhost"),
      "http://127.0.0.1:1/mcp",
    ]) {
      expect(await at(url)).toEqual({});
    }
  });

  it("is in no message of a failure", async () => {
    const client = await open(server.url, { auth: oauth(someone().options) });
    const [token] = as.tokens.keys();
    server.intercept = ({ method, headers }) =>
      method === "POST"
        ? {
            status: 401,
            headers: { "www-authenticate": `Bearer error="invalid_token"` },
            text: headers.authorization!,
          }
        : undefined;
    const failure = (await call(client, "read").catch((error: unknown) => error)) as Error;
    expect(failure.message + failure.stack + JSON.stringify(failure)).not.toContain(token);
  });
});

describe("retries", () => {
  const counting = (answers: boolean): HttpAuth & { asked: number; challenged: number } => {
    const auth = {
      asked: 0,
      challenged: 0,
      async authorize() {
        auth.asked += 1;
        return { authorization: `Bearer ${auth.asked}` };
      },
      async onChallenge() {
        auth.challenged += 1;
        return answers;
      },
    };
    return auth;
  };

  it("are bounded, whatever the credentials say", async () => {
    const auth = counting(true);
    await expect(connect(server.url, { ...self, auth })).rejects.toThrow(/HTTP 401/);
    expect(auth.asked).toBe(8);
    expect(server.posts()).toHaveLength(8);
  });

  it("are none where the credentials have nothing else", async () => {
    const auth = counting(false);
    await expect(connect(server.url, { ...self, auth })).rejects.toMatchObject({
      code: "connect_failed",
      cause: { status: 401 },
    });
    expect(server.posts()).toHaveLength(1);
  });

  it("ask for credentials anew, also where a connection turns out to be closed", async () => {
    const auth = counting(false);
    let sockets = 0;
    const flaky = http.createServer((req, res) => {
      sockets += 1;
      req.resume();
      // The second request on a connection that was kept alive meets a server that is closing it.
      if (sockets === 2) return void req.socket.destroy();
      res.writeHead(200, { "content-type": "application/json" });
      res.end(
        JSON.stringify({ jsonrpc: "2.0", id: sockets === 1 ? 1 : 2, result: { resultType: "complete" } }),
      );
    });
    await new Promise<void>((resolve) => flaky.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      flaky.closeAllConnections();
      flaky.close();
    });
    const transport = httpTransport(`http://127.0.0.1:${(flaky.address() as AddressInfo).port}/mcp`, {
      auth,
    });
    const send = (id: number) =>
      transport.exchange({ jsonrpc: "2.0", id, method: "tools/list", params: { _meta: {} } });
    await send(1);
    await send(2);
    await transport.close();
    expect(auth.asked).toBe(3);
  });

  it("are not for answers that are no challenge", async () => {
    const auth = counting(true);
    for (const status of [400, 402, 403, 404, 429, 500, 503]) {
      server.intercept = () => ({ status });
      await connect(server.url, { ...self, auth, era: "modern" }).catch(() => {});
    }
    expect(auth.challenged).toBe(0);
  });
});

describe("extensions", () => {
  it("that credentials are get declared, besides those of the author", async () => {
    server.intercept = undefined;
    const auth: HttpAuth = {
      extensions: { "com.example/auth": {} },
      authorize: async () => ({ authorization: `Bearer ${[...as.tokens.keys()][0]}` }),
      onChallenge: async () => false,
    };
    await oauth(someone().options).signIn(server.url);
    await open(server.url, { auth, capabilities: { extensions: { "com.example/own": { a: 1 } } } });
    const { _meta } = server.posts().at(-1)!.body.params as { _meta: Record<string, { extensions: object }> };
    expect(_meta["io.modelcontextprotocol/clientCapabilities"]!.extensions).toEqual({
      "com.example/auth": {},
      "com.example/own": { a: 1 },
    });
  });
});

describe("misuse", () => {
  const auth: HttpAuth = { authorize: async () => ({}), onChallenge: async () => false };

  it.each([
    ["auth that is none", { auth: {} }, /^auth: expected what oauth\(\)/],
    [
      "auth and a header for the same",
      { auth, headers: { Authorization: "x" } },
      /^headers\.Authorization: auth sets/,
    ],
  ])("%s throws", (_what, options, message) => {
    expect(() => httpTransport(server.url, options as never)).toThrow(TypeError);
    expect(() => httpTransport(server.url, options as never)).toThrow(message);
  });

  it("credentials that set other headers are refused", async () => {
    const wrong: HttpAuth = { ...auth, authorize: async () => ({ host: "evil.example" }) };
    await expect(connect(server.url, { ...self, auth: wrong })).rejects.toThrow(
      /expected authorization and dpop headers/,
    );
  });

  it("auth for a command is refused before anything is started", async () => {
    await expect(connect({ command: "node", args: [] }, { ...self, auth })).rejects.toThrow(
      /^options\.auth: applies to a URL only/,
    );
  });

  it("auth may stand with the URL as well", async () => {
    const client = await connect({ url: server.url, auth: oauth(someone().options) }, self);
    expect(await call(client, "read")).toBe("read");
    await client.close();
  });
});
