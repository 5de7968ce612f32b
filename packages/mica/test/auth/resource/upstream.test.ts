/** Calling an upstream API with a token of its own, given in exchange for the caller's (RFC 8693). */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createProtection, protect, type UpstreamOptions, upstreamToken } from "../../../src/entry/auth.js";
import { createServer, type Server } from "../../../src/server/server.js";
import { callerOf } from "../../support/caller.js";
import { type AuthorizationServer, authorizationServer, RESOURCE } from "./authorization-server.js";
import { BINDINGS, type Endpoint, textOf } from "./fixture.js";

let issuer: AuthorizationServer;
let endpoint: Endpoint;
let server: Server;
const errors: unknown[] = [];
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

beforeEach(async () => {
  issuer = await authorizationServer();
  errors.length = 0;
  let issued = 0;
  issuer.answers.set("/token", () => ({
    json: {
      access_token: `upstream-${++issued}`,
      issued_token_type: ACCESS_TOKEN,
      token_type: "Bearer",
      expires_in: 120,
    },
  }));
  server = createServer({ name: "x", version: "1.0.0", onError: (error) => errors.push(error) });
  server.tool("pay", {}, (_args, ctx) => upstreamToken(ctx.auth, "billing"));
  server.tool("file", {}, (_args, ctx) => upstreamToken(ctx.auth, "archive"));
  server.tool("nowhere", {}, (_args, ctx) => upstreamToken(ctx.auth, "constructor"));
  endpoint = await BINDINGS["node:http"]!(protect(server, options()));
});
afterEach(() => {
  vi.useRealTimers();
});

const client = { clientId: "mcp", clientSecret: "s3cret" };
const options = (more: Partial<UpstreamOptions> = {}) => ({
  resource: RESOURCE,
  authorizationServers: [issuer.issuer],
  upstream: {
    billing: {
      tokenEndpoint: `${issuer.url}/token`,
      client,
      resource: "https://billing.example.com",
      scopes: ["pay", "read"],
      ...more,
    },
    archive: { tokenEndpoint: `${issuer.url}/token`, client, audience: "archive" },
  },
});

describe("an exchange", () => {
  it("gives another token, for the upstream alone", async () => {
    const token = await issuer.issue();
    expect(textOf(await endpoint.call("pay", token))).toBe("upstream-1");
    const sent = issuer.received.at(-1)!;
    expect(Object.fromEntries(sent.form)).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: token,
      subject_token_type: ACCESS_TOKEN,
      requested_token_type: ACCESS_TOKEN,
      resource: "https://billing.example.com",
      scope: "pay read",
    });
    expect(sent.headers.authorization).toBe(`Basic ${btoa("mcp:s3cret")}`);
    expect(textOf(await endpoint.call("file", token))).toBe("upstream-2");
    expect(issuer.received.at(-1)!.form.get("audience")).toBe("archive");
  });

  it("is kept for the same token, and until shortly before it expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const token = await issuer.issue({ exp: Math.floor(Date.now() / 1000) + 3600 });
    const replies = await Promise.all(Array.from({ length: 5 }, () => endpoint.call("pay", token)));
    expect(replies.map(textOf)).toEqual(Array(5).fill("upstream-1"));
    vi.setSystemTime(Date.now() + 109_000);
    expect(textOf(await endpoint.call("pay", token))).toBe("upstream-1");
    vi.setSystemTime(Date.now() + 2_000);
    expect(textOf(await endpoint.call("pay", token))).toBe("upstream-2");
  });

  it("is not kept for another token of the same caller, which may be worth less", async () => {
    expect(textOf(await endpoint.call("pay", await issuer.issue()))).toBe("upstream-1");
    expect(textOf(await endpoint.call("pay", await issuer.issue()))).toBe("upstream-2");
  });

  it("is not kept beyond the life of the token it was made from, nor where its own is not known", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const short = await issuer.issue({ exp: Math.floor(Date.now() / 1000) + 30 });
    expect(textOf(await endpoint.call("pay", short))).toBe("upstream-1");
    vi.setSystemTime(Date.now() + 21_000);
    expect(textOf(await endpoint.call("pay", short))).toBe("upstream-2");
    issuer.answers.set("/token", () => ({ json: { access_token: "once", token_type: "bearer" } }));
    const token = await issuer.issue();
    await endpoint.call("file", token);
    await endpoint.call("file", token);
    expect(issuer.requestsTo("/token")).toBe(4);
  });

  it.each<[string, (token: string) => object, RegExp]>([
    [
      "is refused",
      (token) => ({ status: 400, json: { error: "invalid_target", error_description: `no: ${token}` } }),
      /No token for the upstream "billing": the token endpoint answered 400, invalid_target, no: \[token\]/,
    ],
    ["is answered without a token", () => ({ json: { token_type: "Bearer" } }), /without an access_token/],
    [
      "is answered with a token that is used otherwise",
      () => ({ json: { access_token: "x", token_type: "N_A" } }),
      /token_type "N_A", expected Bearer/,
    ],
    [
      "is answered with a token of another kind",
      () => ({
        json: {
          access_token: "x",
          token_type: "Bearer",
          issued_token_type: "urn:ietf:params:oauth:token-type:refresh_token",
        },
      }),
      /issued_token_type "urn:ietf:params:oauth:token-type:refresh_token", expected /,
    ],
    [
      "is answered with the same token",
      (token) => ({ json: { access_token: token, token_type: "Bearer" } }),
      /answered with the caller's own token/,
    ],
    ["is answered by a page", () => ({ status: 502, text: "<html>" }), /answered 502/],
    ["is sent elsewhere", () => ({ status: 307, headers: { location: "https://x.example" } }), /redirect/],
  ])("that %s fails, without a word of the token", async (_, answer, message) => {
    const token = await issuer.issue();
    issuer.answers.set("/token", () => answer(token));
    const sent = await endpoint.call("pay", token);
    expect(textOf(sent)).toMatch(/^Tool "pay" failed/);
    expect((errors[0] as Error).message).toMatch(message);
    expect((errors[0] as Error).stack).not.toContain(token);
    expect(sent.text).not.toContain(token);
    // A failure is not kept.
    issuer.answers.set("/token", () => ({ json: { access_token: "now", token_type: "Bearer" } }));
    expect(textOf(await endpoint.call("pay", token))).toBe("now");
  });

  it("with an upstream that nobody named is a mistake", async () => {
    await endpoint.call("nowhere", await issuer.issue());
    expect(errors[0]).toEqual(
      new TypeError('upstreamToken: no upstream "constructor"; there is billing, archive'),
    );
  });

  it("needs somebody to call for", async () => {
    await callerOf(server).result("tools/call", { name: "pay" });
    expect((errors[0] as Error).message).toMatch(/^upstreamToken: nobody is authenticated here/);
    const auth = { principal: "p", scopes: [], claims: {} };
    await expect(upstreamToken(auth, "billing")).rejects.toThrow("the protection names no upstream");
  });
});

it.each<[string, Partial<UpstreamOptions>, RegExp]>([
  [
    "an insecure endpoint",
    { tokenEndpoint: "http://auth.example.com/token" },
    /upstream.billing.tokenEndpoint: it must be an https URL/,
  ],
  ["no target", { resource: undefined as never }, /upstream.billing must have a resource or an audience/],
  [
    "scopes that are none",
    { scopes: ["a b"] },
    /upstream.billing.scopes must hold scopes without spaces.*"a b"/,
  ],
  ["no client", { client: {} as never }, /upstream.billing.client.clientId must be a non-empty string/],
])("%s is a mistake", (_, more, message) => {
  expect(() => createProtection(options(more))).toThrow(TypeError);
  expect(() => createProtection(options(more))).toThrow(message);
});
