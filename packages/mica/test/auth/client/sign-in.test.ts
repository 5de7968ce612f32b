/** A person signs in: what is sent, what comes back, and what happens when it does not come back well. */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../../../src/connect.js";
import { type AuthStep, memoryStore, oauth, type Redirect } from "../../../src/entry/auth/client.js";
import { authorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { call, type GuardedServer, guardedServer, open } from "./guarded-server.js";
import { nobody, someone } from "./person.js";

let as: TestAuthorizationServer;
let server: GuardedServer;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
});

describe("the authorization request", () => {
  it("has what it must have, and nothing twice", async () => {
    server.asksFor = "mcp:basic";
    as.metadata = { authorization_endpoint: `${as.url}/authorize?tenant=1` };
    const { options, pages, read } = someone();
    await open(server.url, { auth: oauth(options) });
    const [page] = pages as [URL];
    expect([...page.searchParams.keys()].length).toBe(new Set(page.searchParams.keys()).size);
    const [client] = as.clients.values();
    expect(Object.fromEntries(page.searchParams)).toEqual({
      tenant: "1",
      response_type: "code",
      client_id: client!.clientId,
      redirect_uri: client!.redirectUris[0],
      scope: "mcp:basic",
      resource: server.url,
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    const { form } = as.requestsTo("/token")[0]!;
    expect(Object.fromEntries(form)).toEqual({
      grant_type: "authorization_code",
      client_id: client!.clientId,
      code: expect.any(String),
      redirect_uri: client!.redirectUris[0],
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      resource: server.url,
    });
    const challenge = createHash("sha256").update(form.get("code_verifier")!).digest("base64url");
    expect(challenge).toBe(page.searchParams.get("code_challenge"));
    await vi.waitFor(() => expect(read).toEqual([expect.stringContaining("You are signed in.")]));
  });

  it("has another state and another verifier every time", async () => {
    const { options, pages } = someone();
    await open(server.url, { auth: oauth(options) });
    await oauth(options).signIn(server.url);
    const values = pages.flatMap(({ searchParams }) => [
      searchParams.get("state"),
      searchParams.get("code_challenge"),
    ]);
    expect(new Set(values).size).toBe(4);
  });

  it("is pushed beforehand, where the server takes it in no other way", async () => {
    as.metadata = {
      require_pushed_authorization_requests: true,
      pushed_authorization_request_endpoint: `${as.url}/par`,
    };
    let pushed = new URLSearchParams();
    as.answers.set("/par", ({ form }) => {
      pushed = form;
      return { status: 201, json: { request_uri: "urn:request:1", expires_in: 60 } };
    });
    as.answers.set("/authorize", ({ query }) => {
      expect([...query.keys()].sort()).toEqual(["client_id", "request_uri"]);
      for (const [name, value] of pushed) query.set(name, value);
      return undefined;
    });
    expect(await call(await open(server.url, { auth: oauth(someone().options) }), "read")).toBe("read");
    expect(pushed.get("resource")).toBe(server.url);
  });

  it("that is refused when it is pushed is an error", async () => {
    as.metadata = {
      require_pushed_authorization_requests: true,
      pushed_authorization_request_endpoint: `${as.url}/par`,
    };
    as.answers.set("/par", () => ({ status: 400, json: { error: "invalid_scope" } }));
    await expect(open(server.url, { auth: oauth(someone().options) })).rejects.toMatchObject({
      reason: "access_denied",
      oauthError: "invalid_scope",
    });
  });
});

describe("the response", () => {
  /** A redirect of the test's own, which takes whatever comes back. */
  const taking = (change: (url: URL) => void): Redirect => ({
    applicationType: "native",
    listen: async () => ({
      uri: "http://127.0.0.1:1/callback",
      async visit(url) {
        const back = new URL((await fetch(url, { redirect: "manual" })).headers.get("location")!);
        change(back);
        return back.href;
      },
      close: async () => {},
    }),
  });

  it.each<[string, (url: URL) => void, string]>([
    ["of another issuer", (url) => url.searchParams.set("iss", "https://evil.example"), "issuer_mismatch"],
    [
      "of an issuer with a slash more",
      (url) => url.searchParams.set("iss", `${as.issuer}/`),
      "issuer_mismatch",
    ],
    ["without an issuer that was promised", (url) => url.searchParams.delete("iss"), "issuer_mismatch"],
    ["with another state", (url) => url.searchParams.set("state", "x"), "response_rejected"],
    ["without a state", (url) => url.searchParams.delete("state"), "response_rejected"],
    ["without a code", (url) => url.searchParams.delete("code"), "response_rejected"],
    ["with two codes", (url) => url.searchParams.append("code", "x"), "response_rejected"],
  ])("%s is rejected before the code is sent anywhere", async (_what, change, reason) => {
    const auth = oauth({ clientName: "Test", redirect: taking(change) });
    await expect(open(server.url, { auth })).rejects.toMatchObject({ code: "connect_failed", reason });
    expect(as.requestsTo("/authorize")).toHaveLength(1);
    expect(as.requestsTo("/token")).toEqual([]);
    expect(server.posts()).toHaveLength(1);
  });

  it("without an issuer is taken, where none was promised", async () => {
    as.metadata = { authorization_response_iss_parameter_supported: undefined };
    const auth = oauth({ clientName: "Test", redirect: taking((url) => url.searchParams.delete("iss")) });
    expect(await call(await open(server.url, { auth }), "read")).toBe("read");
  });

  it("of another issuer is rejected, where none was promised, too", async () => {
    as.metadata = { authorization_response_iss_parameter_supported: false };
    const auth = oauth({
      clientName: "Test",
      redirect: taking((url) => url.searchParams.set("iss", "https://evil.example")),
    });
    await expect(open(server.url, { auth })).rejects.toMatchObject({ reason: "issuer_mismatch" });
    expect(as.requestsTo("/token")).toEqual([]);
  });

  it("that says no is an error, and the next one asks again", async () => {
    as.redirect = (parameters) => {
      parameters.delete("code");
      parameters.set("error", "access_denied");
      parameters.set("error_description", "Not today.");
    };
    const { options, read } = someone();
    await expect(open(server.url, { auth: oauth(options) })).rejects.toMatchObject({
      reason: "access_denied",
      oauthError: "access_denied",
      message: `${as.issuer} did not authorize this (access_denied: Not today.)`,
    });
    await vi.waitFor(() => expect(read).toEqual([expect.stringContaining("Signing in did not work.")]));
    as.redirect = () => {};
    expect(await call(await open(server.url, { auth: oauth(options) }), "read")).toBe("read");
  });

  it("a redirect to somewhere that is neither this machine nor encrypted is not used", async () => {
    const { options } = someone();
    const listen = async () => ({
      uri: "http://app.example.com/cb",
      visit: async () => "",
      close: async () => {},
    });
    const redirect: Redirect = { applicationType: "web", listen };
    await expect(open(server.url, { auth: oauth({ ...options, redirect }) })).rejects.toMatchObject({
      reason: "forbidden_url",
    });
    expect(as.requestsTo("/register")).toEqual([]);
  });
});

describe("time that a person takes", () => {
  it("does not count, whatever the timeout of the request", async () => {
    as.answers.set("/authorize", async () => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      return undefined;
    });
    const limits = { timeoutMs: 300, maxTimeoutMs: 300 };
    const client = await open(server.url, { auth: oauth(someone().options), limits });
    expect(await call(client, "read")).toBe("read");
  });

  it("counts again afterwards", async () => {
    const limits = { timeoutMs: 300, maxTimeoutMs: 300 };
    const client = await open(server.url, { auth: oauth(someone().options), limits });
    server.intercept = () => new Promise(() => {});
    await expect(call(client, "read")).rejects.toMatchObject({ code: "timeout" });
  });

  it("is bounded: nobody who comes back is an error that names the limit", async () => {
    const { options } = someone({ limits: { signInTimeoutMs: 200 } });
    as.answers.set("/authorize", () => "hang");
    await expect(open(server.url, { auth: oauth(options) })).rejects.toMatchObject({
      reason: "sign_in_timeout",
      message: `Nobody came back from ${as.url} within 200 ms (signInTimeoutMs)`,
    });
  });

  it("ends when nobody waits any more: the port is free, and the next one starts anew", async () => {
    const { options, pages } = someone();
    as.answers.set("/authorize", () => "hang");
    const giveUp = new AbortController();
    const auth = oauth(options);
    const connecting = connect(server.url, { name: "t", version: "1", auth, signal: giveUp.signal });
    while (pages.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    giveUp.abort();
    await expect(connecting).rejects.toMatchObject({ code: "aborted" });
    const callback = pages[0]!.searchParams.get("redirect_uri")!;
    for (;;) {
      const refused = await fetch(callback).then(
        () => false,
        () => true,
      );
      if (refused) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    as.answers.clear();
    expect(await call(await open(server.url, { auth }), "read")).toBe("read");
  });
});

describe("connections at the same time", () => {
  it("sign in once", async () => {
    const { options } = someone();
    const auth = oauth(options);
    const clients = await Promise.all([1, 2, 3, 4, 5].map(() => open(server.url, { auth })));
    for (const client of clients) expect(await call(client, "read")).toBe("read");
    expect(as.requestsTo("/authorize")).toHaveLength(1);
  });

  it("one that gives up leaves the others waiting", async () => {
    const { options, pages } = someone();
    let letIn = () => {};
    as.answers.set("/authorize", async () => {
      await new Promise<void>((resolve) => {
        letIn = resolve;
      });
      return undefined;
    });
    const auth = oauth(options);
    const giveUp = new AbortController();
    const first = connect(server.url, { name: "t", version: "1", auth, signal: giveUp.signal });
    while (pages.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const second = open(server.url, { auth });
    await new Promise((resolve) => setTimeout(resolve, 50));
    giveUp.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    letIn();
    expect(await call(await second, "read")).toBe("read");
    expect(pages).toHaveLength(1);
  });
});

describe("what is kept", () => {
  it("is used by the next process: nobody is asked, and no request is refused", async () => {
    const store = memoryStore();
    await open(server.url, { auth: oauth(someone({ store }).options) });
    const before = server.posts().length;
    const client = await open(server.url, { auth: oauth({ clientName: "Test", redirect: nobody, store }) });
    expect(await call(client, "read")).toBe("read");
    expect(
      server
        .posts()
        .slice(before)
        .every(({ headers }) => headers.authorization !== undefined),
    ).toBe(true);
  });

  it("is of this server only: another one at the same host gets nothing", async () => {
    const { options } = someone({ store: memoryStore() });
    const auth = oauth(options);
    await open(server.url, { auth });
    const other = await guardedServer(as, { path: "/mcp" });
    const first = () => other.posts()[0]!.headers.authorization;
    await open(other.url, { auth });
    expect(first()).toBeUndefined();
    await open(`${server.url}?tenant=2`, { auth }).catch(() => {});
    const asTenant = server.posts().at(-1)!;
    expect(asTenant.headers.authorization).not.toBe(server.posts()[1]!.headers.authorization);
  });

  it("may be shown without the tokens, and is gone after signing out", async () => {
    const store = memoryStore();
    server.asksFor = "mcp:basic";
    const { options } = someone({ store });
    const auth = oauth(options);
    expect(await auth.account(server.url)).toBeUndefined();
    const account = await auth.signIn(server.url, { wwwAuthenticate: 'Bearer scope="mcp:basic"' });
    expect(account).toEqual({
      resource: server.url,
      issuer: as.issuer,
      clientId: [...as.clients.keys()][0],
      scopes: ["mcp:basic"],
      isSignedIn: true,
      tokenType: "Bearer",
      expiresAt: expect.closeTo(Date.now() + 3_600_000, -4),
      isRefreshable: true,
      identity: undefined,
    });
    expect(await auth.account(server.url)).toEqual(account);
    expect(await auth.signOut(server.url)).toEqual({
      issuer: as.issuer,
      isRevoked: true,
      problem: undefined,
    });
    expect(as.requestsTo("/revoke").map(({ form }) => form.get("token_type_hint"))).toEqual([
      "refresh_token",
      "access_token",
    ]);
    expect(as.tokens.size).toBe(0);
    expect(await auth.account(server.url)).toBeUndefined();
    expect(await auth.signOut(server.url)).toBeUndefined();
    await expect(open(server.url, { auth: oauth({ clientName: "Test", store }) })).rejects.toMatchObject({
      reason: "sign_in_needed",
    });
  });

  it("is gone after signing out where it cannot be revoked, too", async () => {
    as.metadata = { revocation_endpoint: undefined };
    const auth = oauth(someone().options);
    await auth.signIn(server.url);
    expect(await auth.signOut(server.url)).toMatchObject({
      isRevoked: false,
      problem: expect.stringContaining("revocation_endpoint"),
    });
    expect(await auth.account(server.url)).toBeUndefined();
  });

  it("is used where somebody is signed in, unless it is to be done again", async () => {
    const auth = oauth(someone().options);
    await auth.signIn(server.url);
    await auth.signIn(server.url);
    expect(as.requestsTo("/authorize")).toHaveLength(1);
    await auth.signIn(server.url, { again: true });
    expect(as.requestsTo("/authorize")).toHaveLength(2);
  });

  it("says who signed in, where the issuer does", async () => {
    const claims = (aud: string) =>
      Buffer.from(JSON.stringify({ iss: as.issuer, aud, sub: "7", email: "maria@example.com" })).toString(
        "base64url",
      );
    as.answers.set("/token", ({ form }) => ({
      json: { access_token: "a", token_type: "Bearer", id_token: `h.${claims(form.get("client_id")!)}.s` },
    }));
    const account = await oauth(someone().options).signIn(server.url);
    expect(account.identity).toEqual({ sub: "7", email: "maria@example.com" });
  });

  it("that was signed out of meanwhile stays so", async () => {
    const store = memoryStore();
    const { options } = someone({ store });
    await open(server.url, { auth: oauth(options) });
    as.tokens.clear();
    const key = `grant ${server.url}`;
    as.answers.set("/token", async () => {
      // Somebody who does not wait for their turn.
      await store.write(key, undefined, (await store.read(key))!.version);
      return undefined;
    });
    await expect(open(server.url, { auth: oauth(options) })).rejects.toMatchObject({
      reason: "store_failed",
      message: expect.stringContaining("changed by somebody else meanwhile"),
    });
    expect(await store.read(key)).toBeUndefined();
  });

  it("that cannot be read is an error that says what to do", async () => {
    const store = memoryStore();
    await store.write(`grant ${server.url}`, { resource: 1 }, undefined);
    await expect(open(server.url, { auth: oauth({ ...someone().options, store }) })).rejects.toMatchObject({
      reason: "store_failed",
    });
  });
});

describe("steps", () => {
  it("tell everything that was sent and answered, in order, and no secret", async () => {
    const steps: AuthStep[] = [];
    as.metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
    const store = memoryStore();
    const auth = oauth({ ...someone({ store }).options, onStep: (step) => steps.push(step) });
    await open(server.url, { auth });
    as.tokens.clear();
    await auth.signIn(server.url, { again: true });
    await auth.signOut(server.url);
    const rungs = steps.filter(({ answered }) => answered).map(({ rung }) => rung);
    expect(rungs.slice(0, 4)).toEqual(["resource_metadata", "server_metadata", "registration", "token"]);
    expect(new Set(steps.map(({ rung }) => rung))).toEqual(
      new Set([
        "resource_metadata",
        "server_metadata",
        "registration",
        "authorization",
        "token",
        "revocation",
      ]),
    );
    const token = steps.find(({ rung }) => rung === "token")!;
    expect(token).toMatchObject({
      sent: {
        method: "POST",
        url: `${as.url}/token`,
        headers: { authorization: expect.stringMatching(/^Basic \[hidden, \d+ characters\]$/) },
        members: {
          grant_type: "authorization_code",
          code: expect.stringMatching(/^\[hidden, \d+ characters\]$/),
          resource: server.url,
        },
      },
      answered: {
        status: 200,
        json: { access_token: expect.stringMatching(/^\[hidden/), token_type: "Bearer" },
      },
    });
    const told = JSON.stringify(steps);
    const secrets = as.received.flatMap(({ form, headers }) => [
      ...["code", "code_verifier", "token"].flatMap((name) => form.get(name) ?? []),
      ...(headers.authorization?.split(" ").slice(1) ?? []),
    ]);
    secrets.push(...[...as.clients.values()].map(({ secret }) => secret!));
    expect(secrets.length).toBeGreaterThan(6);
    for (const secret of secrets) expect(told).not.toContain(secret);
  });

  it("are not disturbed by whoever looks on", async () => {
    const onStep = () => {
      throw new Error("look away");
    };
    expect(
      await call(await open(server.url, { auth: oauth({ ...someone().options, onStep }) }), "read"),
    ).toBe("read");
  });
});

it("leaves nothing open", async () => {
  const before = process.getActiveResourcesInfo().filter((one) => /Server|Timeout/.test(one)).length;
  const client = await connect(server.url, { name: "t", version: "1", auth: oauth(someone().options) });
  await client.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const after = process.getActiveResourcesInfo().filter((one) => /Server|Timeout/.test(one)).length;
  expect(after).toBeLessThanOrEqual(before + 1);
});
