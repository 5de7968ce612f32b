/** Mistakes in the options are named at start, not found out by the first caller. */
import { describe, expect, it } from "vitest";
import {
  createProtection,
  DEFAULT_AUTH_LIMITS,
  type ProtectionOptions,
  protect,
} from "../../../src/entry/auth.js";
import { createFetchHandler } from "../../../src/http/fetch.js";
import { createServer } from "../../../src/server/server.js";
import type { RequestHandler } from "../../../src/transport.js";
import { callerOf } from "../../support/caller.js";
import { incidentServer } from "./fixture.js";

const GOOD: ProtectionOptions = {
  resource: "https://mcp.example.com/mcp",
  authorizationServers: ["https://auth.example.com"],
};

it.each<[string, object, RegExp]>([
  ["no resource", { resource: undefined }, /resource must be an absolute URL, got undefined/],
  ["a relative resource", { resource: "/mcp" }, /resource must be an absolute URL, got "\/mcp"/],
  ["no scheme", { resource: "mcp.example.com" }, /resource must be an absolute URL/],
  [
    "a resource over http",
    { resource: "http://mcp.example.com" },
    /resource: it must be an https URL .*got "http:/,
  ],
  ["a fragment", { resource: "https://mcp.example.com#x" }, /resource must have no fragment, got/],
  ["an empty fragment", { resource: "https://mcp.example.com#" }, /resource must have no fragment/],
  ["a password", { resource: "https://a:b@mcp.example.com" }, /resource must hold no credentials/],
  ["no authorization server", { authorizationServers: [] }, /must list at least one issuer, got \[\]/],
  [
    "a text for a list",
    { authorizationServers: "https://a.example" },
    /must list at least one issuer, got "https/,
  ],
  [
    "an insecure issuer",
    { authorizationServers: ["http://auth.example.com"] },
    /authorizationServers: it must be/,
  ],
  [
    "an issuer with a query",
    { authorizationServers: ["https://a.example?x"] },
    /without query and fragment, got/,
  ],
  ["scopes as text", { scopes: "a b" }, /scopes must be a list of scopes, got "a b"/],
  [
    "a scope with a space",
    { scopes: ["a b"] },
    /scopes must hold scopes without spaces, quotes or.*got "a b"/,
  ],
  ["a scope with a quote", { scopes: ['a"'] }, /scopes must hold scopes/],
  ["an empty scope", { scopes: [""] }, /scopes must hold scopes.*got ""/],
  ["offline_access", { scopes: ["offline_access"] }, /scopes must not hold offline_access/],
  [
    "offline_access in the metadata",
    { scopesSupported: ["offline_access"] },
    /scopesSupported must not hold/,
  ],
  [
    "a hierarchy of texts",
    { scopeHierarchy: { a: "b" } },
    /scopeHierarchy\["a"\] must be a list of scopes, got "b"/,
  ],
  ["an empty audience", { audience: "" }, /audience must be a non-empty string or a list of them, got ""/],
  ["no audience", { audience: [] }, /audience must be a non-empty string/],
  ["an unknown limit", { limits: { ttl: 1 } }, /limits.ttl is unknown; expected clockToleranceMs, /],
  [
    "a negative limit",
    { limits: { clockToleranceMs: -1 } },
    /limits.clockToleranceMs must be a whole number from 0/,
  ],
  [
    "a limit of zero",
    { limits: { fetchTimeoutMs: 0 } },
    /limits.fetchTimeoutMs must be a whole number from 1, got 0/,
  ],
])("%s is refused", (_, change, message) => {
  const options = { ...GOOD, ...change } as ProtectionOptions;
  expect(() => createProtection(options)).toThrow(TypeError);
  expect(() => createProtection(options)).toThrow(message);
});

it.each(["http://127.0.0.1:8080/mcp", "http://localhost/mcp", "http://[::1]:1/mcp"])(
  "%s is fine without https: it does not leave this machine",
  (resource) => {
    expect(JSON.parse(createProtection({ ...GOOD, resource }).metadata.json)).toMatchObject({ resource });
  },
);

it("has one object with every limit", () => {
  expect(Object.values(DEFAULT_AUTH_LIMITS).every((limit) => Number.isSafeInteger(limit) && limit > 0)).toBe(
    true,
  );
  expect(Object.isFrozen(DEFAULT_AUTH_LIMITS)).toBe(true);
});

describe("a protected server", () => {
  it("is served as it is where there is no HTTP: credentials come from the environment there", async () => {
    const server = incidentServer();
    const { result } = callerOf(protect(server, GOOD));
    expect(await result("tools/call", { name: "purge" })).toMatchObject({
      content: [{ text: "hello undefined" }],
    });
  });

  it("is refused by a binding that is told nonsense about it", () => {
    const server = createServer({ name: "x", version: "1.0.0" });
    expect(() => createFetchHandler(server, { auth: {} as never })).toThrow(
      new TypeError("auth must be what createProtection of mica-mcp/auth returns"),
    );
  });

  it("may be any handler, whose methods keep their receiver", async () => {
    class Handler implements RequestHandler {
      readonly supportedVersions = ["2026-07-28"];
      #ended = false;
      async handle({ id }: { id: string | number }) {
        return {
          jsonrpc: "2.0" as const,
          id,
          result: { resultType: "complete" as const, ended: this.#ended },
        };
      }
      mirroredHeaders() {
        return this.#ended ? [] : [];
      }
      endSubscriptions() {
        this.#ended = true;
      }
    }
    const wrapped = protect(new Handler(), createProtection(GOOD));
    wrapped.endSubscriptions();
    expect(wrapped.requiredScopes?.({ method: "tools/call" })).toEqual([]);
    expect(await callerOf(wrapped).result("tools/list")).toMatchObject({ ended: true });
  });
});

it("a server that is served from several processes says the same of itself when it is protected", () => {
  const server = createServer({ name: "x", version: "1.0.0" });
  expect(server.localChanges).toBeDefined();
  expect(protect(server, GOOD).localChanges).toBe(server.localChanges);
});

it("a protection that fails against its contract lets nobody in", async () => {
  const { metadata } = createProtection(GOOD);
  const handler = createFetchHandler(createServer({ name: "x", version: "1.0.0" }), {
    auth: {
      metadata,
      authenticate: () => Promise.reject(new Error("broken")),
      refuseScopes: () => undefined,
    },
  });
  const errors: unknown[][] = [];
  const { error } = console;
  console.error = (...args) => void errors.push(args);
  try {
    const response = await handler(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers: { "content-type": "application/json" },
      }),
    );
    expect(response.status).toBe(500);
    expect(errors).toHaveLength(1);
  } finally {
    console.error = error;
  }
});
