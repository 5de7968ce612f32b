/** The raw access token is nowhere: not in what handlers see, not in what callers are told, not on stderr. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withoutToken } from "../../../src/auth/shared/redact.js";
import {
  InvalidTokenError,
  type ProtectionOptions,
  protect,
  type TokenVerifier,
} from "../../../src/entry/auth.js";
import type { InputContext } from "../../../src/server/asking-context.js";
import { createServer } from "../../../src/server/server.js";
import { type AuthorizationServer, authorizationServer, now, RESOURCE } from "./authorization-server.js";
import { BINDINGS, type Sent } from "./fixture.js";

/** Every text that can be reached from a value by looking, getters and prototypes and collections included. */
function textsIn(root: unknown): Set<string> {
  const texts = new Set<string>();
  const seen = new Set<unknown>();
  const queue: unknown[] = [root];
  for (let value = queue.shift(); queue.length > 0 || value !== undefined; value = queue.shift()) {
    if (typeof value === "string") texts.add(value);
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value))
      continue;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      texts.add(String(key));
      try {
        queue.push((value as Record<PropertyKey, unknown>)[key]);
      } catch {
        // A getter that needs another receiver.
      }
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    for (let on = prototype; on !== null && on !== Object.prototype && on !== Function.prototype; ) {
      for (const key of Reflect.ownKeys(on as object)) {
        try {
          queue.push(Reflect.get(on as object, key, value));
        } catch {
          // Likewise.
        }
      }
      on = Object.getPrototypeOf(on) as unknown;
    }
    if (value instanceof Map || value instanceof Set) queue.push(...value);
  }
  return texts;
}

const PARTS_OF_TOKENS = 2;

describe.each(Object.entries(BINDINGS))("%s", (_, start) => {
  let issuer: AuthorizationServer;
  const written: string[] = [];
  const seen: { texts: Set<string>; shown: string }[] = [];

  beforeEach(async () => {
    issuer = await authorizationServer();
    written.length = 0;
    seen.length = 0;
    for (const stream of [process.stderr, process.stdout]) {
      vi.spyOn(stream, "write").mockImplementation((chunk) => {
        written.push(String(chunk));
        return true;
      });
    }
    for (const name of ["error", "log", "warn", "info", "debug"] as const) {
      vi.spyOn(console, name).mockImplementation((...args) => {
        written.push(
          args.map((arg) => (typeof arg === "string" ? arg : inspect(arg, { depth: 9 }))).join(" "),
        );
      });
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const look = (ctx: InputContext) => {
    seen.push({
      texts: textsIn(ctx),
      shown: inspect(ctx, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    });
  };

  async function protectedServer(more: Partial<ProtectionOptions> = {}) {
    const server = createServer({ name: "x", version: "1.0.0" });
    server.tool("look", {}, (_args, ctx) => {
      look(ctx);
      return { auth: ctx.auth, meta: ctx.meta, client: ctx.client };
    });
    server.tool("fail", {}, (_args, ctx) => {
      look(ctx);
      throw new Error(`failed: ${inspect(ctx)}`);
    });
    server.tool("ask", {}, async (_args, ctx) => {
      look(ctx);
      await ctx.step("keep", () => ctx.auth);
      await ctx.elicit("more", { message: "More?", schema: { type: "object", properties: {} } });
      return "done";
    });
    server.resource("x://y", { name: "y" }, (ctx) => {
      look(ctx);
      return inspect(ctx.auth);
    });
    const options = { resource: RESOURCE, authorizationServers: [issuer.issuer], ...more };
    return start(protect(server, options));
  }

  /** The token itself, and the two parts of it that are of use to somebody else. */
  function expectNowhere(token: string, ...sent: Sent[]) {
    const [, , signature] = token.split(".");
    const secrets = [token, ...(signature ? [signature] : [])];
    expect(secrets.length).toBeLessThanOrEqual(PARTS_OF_TOKENS);
    for (const secret of secrets) {
      for (const { texts, shown } of seen) {
        expect([...texts].filter((text) => text.includes(secret))).toEqual([]);
        expect(shown).not.toContain(secret);
      }
      for (const { text, headers } of sent) {
        expect(text).not.toContain(secret);
        expect(JSON.stringify(headers)).not.toContain(secret);
      }
      expect(written.join("\n")).not.toContain(secret);
    }
  }

  it("the search finds what is there", () => {
    class Holder {
      #hidden = "secret-0";
      get shown() {
        return { deep: [new Map([["secret-1", new Set(["secret-2"])]])], [Symbol("secret-3")]: this.#hidden };
      }
    }
    expect([...textsIn({ holder: new Holder() })].join()).toMatch(
      /(?=.*secret-0)(?=.*secret-1)(?=.*secret-2)(?=.*secret-3)/,
    );
  });

  it("in tools, resources, questions and failures", async () => {
    const endpoint = await protectedServer({
      upstream: {
        api: {
          tokenEndpoint: `${issuer.url}/token`,
          client: { clientId: "mcp", clientSecret: "s" },
          audience: "api",
        },
      },
    });
    const token = await issuer.issue();
    const elicitation = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
    const sent = [
      await endpoint.call("look", token),
      await endpoint.call("fail", token),
      await endpoint.ask("resources/read", { uri: "x://y" }, token),
      await endpoint.ask(
        "tools/call",
        {
          name: "ask",
          _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", ...elicitation },
        },
        token,
      ),
    ];
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(sent[3]!.text).toContain("input_required");
    expect(seen).toHaveLength(4);
    expect([...seen[0]!.texts]).toContain(`${issuer.issuer}#maria`);
    expect(written.join("\n")).toContain("failed: ");
    expectNowhere(token, ...sent);
  });

  it("in refusals, whatever is wrong", async () => {
    const endpoint = await protectedServer();
    const tokens = [
      await issuer.issue({ exp: now() - 60 }),
      await issuer.issue({ aud: "https://other.example.com" }),
      await issuer.issue({}, { header: { typ: "other" } }),
      (await issuer.issue()).slice(0, -4),
      "opaque-0123456789-abcdefghijklmnop",
    ];
    for (const token of tokens) {
      const sent = await endpoint.call("look", token);
      expect(sent.status).toBe(401);
      expectNowhere(token, sent);
    }
    const token = await issuer.issue();
    expectNowhere(token, await endpoint.call("look", undefined, { path: `/mcp?access_token=${token}` }));
    expectNowhere(
      token,
      await endpoint.call("look", undefined, { headers: { authorization: `Bearer "${token}"` } }),
    );
    expect(written).toEqual([]);
  });

  it.each<[string, (token: string) => ReturnType<TokenVerifier>, number]>([
    [
      "puts it into claims",
      (token) => ({
        sub: "maria",
        aud: RESOURCE,
        exp: now() + 60,
        token,
        nested: { list: [{ header: `Bearer ${token}` }] },
        kept: { fine: true },
      }),
      200,
    ],
    ["throws it", (token) => Promise.reject(new Error(`bad token ${token}`)), 503],
    [
      "throws it as something else",
      (token) => Promise.reject(Object.assign(new RangeError(token, { cause: token }), { token })),
      503,
    ],
    ["throws a text", (token) => Promise.reject(token), 503],
    ["refuses it by name", (token) => Promise.reject(new InvalidTokenError(`revoked: ${token}`)), 401],
  ])("by a verifier that %s", async (_, verify, status) => {
    const token = await issuer.issue();
    const endpoint = await protectedServer({ verify: (given) => verify(given) });
    const sent = await endpoint.call("look", token);
    expect(sent.status).toBe(status);
    expectNowhere(token, sent);
    if (status === 200) expect(sent.text).toContain("fine");
    if (status === 503) expect(written.join()).toContain("[token]");
  });

  it("when its issuer repeats it", async () => {
    const token = await issuer.issue();
    issuer.answers.set("/jwks", () => ({ status: 500, text: token }));
    const endpoint = await protectedServer();
    const sent = await endpoint.call("look", token);
    expect(sent.status).toBe(503);
    expect(written.join()).toContain("access tokens cannot be verified");
    expectNowhere(token, sent);
  });

  it("nor does a claim become claims that nobody made", () => {
    const claims = JSON.parse('{"sub":"maria","__proto__":{"tenant":"acme"}}') as Record<string, unknown>;
    const kept = withoutToken(claims, "a token that stands nowhere");
    expect(kept["tenant"]).toBeUndefined();
    expect(Object.keys(kept)).toEqual(["sub", "__proto__"]);
  });

  it("and what handlers are given cannot be changed for others", async () => {
    const endpoint = await protectedServer();
    const token = await issuer.issue();
    await endpoint.call("look", token);
    const { auth } = JSON.parse(JSON.parse((await endpoint.call("look", token)).text).result.content[0].text);
    expect(Object.keys(auth).sort()).toEqual(["claims", "expiresAt", "principal", "scopes"]);
  });
});
