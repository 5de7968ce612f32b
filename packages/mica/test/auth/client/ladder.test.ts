/** The whole ladder against an authorization server that was written by others, with both halves of this SDK around it. */
import { generateKeyPairSync } from "node:crypto";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJwt } from "jose";
import Provider from "oidc-provider";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type AuthStep,
  clientCredentials,
  loopback,
  memoryStore,
  type OAuthOptions,
  oauth,
} from "../../../src/entry/auth/client.js";
import { protect } from "../../../src/entry/auth.js";
import { serveHttp } from "../../../src/entry/http.js";
import { createServer, type Server } from "../../../src/entry/index.js";
import { browse } from "./browser.js";
import { call, open } from "./guarded-server.js";

// It says at length that its defaults are not for production.
beforeEach(() => {
  for (const level of ["info", "warn"] as const) {
    const spy = vi.spyOn(console, level).mockImplementation(() => {});
    onTestFinished(() => spy.mockRestore());
  }
});

async function freePort(): Promise<number> {
  const server = http.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface World {
  readonly issuer: string;
  readonly resource: string;
  /** Scopes of every token that the MCP server has taken. */
  readonly seen: Record<string, unknown>[];
  readonly server: Server;
  /** Consents that somebody gave. */
  consents: number;
}

/** @param lifetime Seconds that an access token lasts. */
async function world({ lifetime = 3600, dpop = false, nonce = false } = {}): Promise<World> {
  const [issuerPort, resourcePort] = [await freePort(), await freePort()];
  const issuer = `http://127.0.0.1:${issuerPort}`;
  const resource = `http://127.0.0.1:${resourcePort}/mcp`;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "k" }] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    scopes: ["openid", "offline_access", "email"],
    claims: { email: ["email"] },
    clients: [
      {
        client_id: "nightly",
        client_secret: "a secret of enough length",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    cookies: { keys: ["k"] },
    findAccount: (_ctx: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@example.com` }),
    }),
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    rotateRefreshToken: true,
    ttl: { AccessToken: lifetime, ClientCredentials: lifetime },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: { enabled: dpop, ...(nonce && { nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true }) },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx: unknown, indicator: string) => ({
          scope: "notes:read notes:write notes:admin",
          audience: indicator,
          accessTokenFormat: "jwt",
          accessTokenTTL: lifetime,
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
  });
  const server = createServer({ name: "notes", version: "1.0.0" });
  const made: World = { issuer, resource, seen: [], server, consents: 0 };

  /** What the pages of the provider would do when a person clicks through them. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      return provider.interactionFinished(request, response, { login: { accountId: "maria" } });
    }
    made.consents += 1;
    const grant = new provider.Grant({
      accountId: session!.accountId,
      clientId: String(params["client_id"]),
    });
    const scope = String(params["scope"] ?? "");
    grant.addOIDCScope(scope);
    grant.addResourceScope(resource, scope);
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
  const callback = provider.callback();
  const listener = http.createServer((request, response) => {
    if (request.url!.startsWith("/interaction/")) void interact(request, response);
    else callback(request, response);
  });
  await new Promise<void>((resolve) => listener.listen(issuerPort, "127.0.0.1", resolve));
  onTestFinished(() => {
    listener.closeAllConnections();
    listener.close();
  });

  server.tool("read", { description: "Reads." }, (_args, { auth }) => {
    made.seen.push(auth!.claims as Record<string, unknown>);
    return "read";
  });
  server.tool("write", { description: "Writes.", scopes: ["notes:write"] }, () => "written");
  const service = await serveHttp(
    protect(server, {
      resource,
      authorizationServers: [issuer],
      scopes: ["notes:read"],
      // Tokens end when they say, so that a test need not wait for longer.
      limits: { clockToleranceMs: 0 },
    }),
    { port: resourcePort },
  );
  onTestFinished(() => service.close());
  expect(service.url).toBe(resource);
  return made;
}

const person = (options: Partial<OAuthOptions> = {}): OAuthOptions => ({
  clientName: "Ladder",
  redirect: loopback({ open: (url) => void browse(url).catch(() => {}) }),
  ...options,
});

describe("against oidc-provider", () => {
  it("from a 401 to a result: registered, signed in, bound to the resource", async () => {
    const { issuer, resource, seen, consents } = await world();
    expect(consents).toBe(0);
    const steps: AuthStep[] = [];
    const store = memoryStore();
    const auth = oauth(person({ store, onStep: (step) => steps.push(step) }));
    const client = await open(resource, { auth });
    expect(await call(client, "read")).toBe("read");
    expect(seen).toEqual([
      expect.objectContaining({ iss: issuer, aud: resource, sub: "maria", scope: "notes:read" }),
    ]);
    const asked = steps.find(({ about }) => about === "the page for the person")!.sent!.members!;
    expect(asked).toMatchObject({ resource, scope: "notes:read offline_access", prompt: "consent" });
    const account = (await auth.account(resource))!;
    expect(account).toMatchObject({ issuer, resource, isSignedIn: true, isRefreshable: true });
  });

  it("more scopes when a tool needs them, with those that there were", async () => {
    const made = await world();
    const client = await open(made.resource, { auth: oauth(person()) });
    expect(await call(client, "write")).toBe("written");
    expect(await call(client, "read")).toBe("read");
    expect(made.seen.at(-1)!["scope"]).toBe("notes:read notes:write");
    expect(made.consents).toBe(2);
  });

  it("refreshed when the token ends, without anybody", async () => {
    const made = await world({ lifetime: 1 });
    const client = await open(made.resource, { auth: oauth(person()) });
    await call(client, "read");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await call(client, "read")).toBe("read");
    expect(made.consents).toBe(1);
    expect(new Set(made.seen.map(({ jti }) => jti)).size).toBe(2);
  });

  it("a subscription ends with its token, and goes on with the next one", async () => {
    const made = await world({ lifetime: 2 });
    const client = await open(made.resource, { auth: oauth(person()) });
    const subscription = client.listen({ toolsListChanged: true });
    await subscription.acknowledged;
    const heard: string[] = [];
    const reading = (async () => {
      for await (const { type } of subscription) heard.push(type);
    })();
    await expect.poll(() => heard, { timeout: 10_000 }).toContain("reopened");
    made.server.tool("another", {}, () => "another");
    await expect.poll(() => heard).toContain("toolsListChanged");
    expect(made.consents).toBe(1);
    await subscription.close();
    await reading;
  });

  it("signed out: revoked there, and forgotten here", async () => {
    const { resource } = await world();
    const store = memoryStore();
    const auth = oauth(person({ store }));
    await auth.signIn(resource);
    const key = `grant ${resource}`;
    const kept = (await store.read(key))!.value;
    expect(await auth.signOut(resource)).toMatchObject({ isRevoked: true });
    expect(await store.read(key)).toBeUndefined();
    // Somebody who has a copy gets nothing for the refresh token.
    await store.write(key, { ...kept, tokens: { ...(kept["tokens"] as object), expiresAt: 1 } }, undefined);
    const unattended = oauth({ clientName: "Ladder", store });
    await expect(open(resource, { auth: unattended })).rejects.toMatchObject({ reason: "sign_in_needed" });
  });

  it("a program with a secret of its own", async () => {
    const { issuer, resource, seen } = await world();
    const auth = clientCredentials({
      clientId: "nightly",
      clientSecret: "a secret of enough length",
      issuer,
    });
    expect(await call(await open(resource, { auth }), "read")).toBe("read");
    expect(seen[0]).toMatchObject({ client_id: "nightly", aud: resource, scope: "notes:read" });
  });

  it("an error of the authorization server is told in its words", async () => {
    const { resource } = await world();
    const auth = oauth(person({ scopes: ["made:up"] }));
    // It leaves out what it does not know, and what is needed is there.
    expect(await call(await open(resource, { auth }), "read")).toBe("read");
    const { issuer } = (await auth.account(resource))!;
    const wrong = clientCredentials({ clientId: "nightly", clientSecret: "another secret", issuer });
    await expect(open(resource, { auth: wrong })).rejects.toMatchObject({
      reason: "token_refused",
      oauthError: "invalid_client",
    });
  });

  it.each([[false], [true]])("tokens bound to a key, with a nonce: %s", async (nonce) => {
    const { resource } = await world({ dpop: true, nonce });
    const steps: AuthStep[] = [];
    const auth = oauth(person({ dpop: "always", onStep: (step) => steps.push(step) }));
    const account = await auth.signIn(resource, { wwwAuthenticate: 'Bearer scope="notes:read"' });
    expect(account.tokenType).toBe("DPoP");
    expect(steps.filter(({ rung, answered }) => rung === "token" && answered)).toHaveLength(nonce ? 2 : 1);
  });

  it("the access token is a JWT for this resource alone", async () => {
    const { resource, issuer } = await world();
    const store = memoryStore();
    await oauth(person({ store })).signIn(resource, { wwwAuthenticate: 'Bearer scope="notes:read"' });
    const { accessToken } = (await store.read(`grant ${resource}`))!.value["tokens"] as {
      accessToken: string;
    };
    expect(decodeJwt(accessToken)).toMatchObject({ iss: issuer, aud: resource });
  });
});
