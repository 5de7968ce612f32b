/** Callers of two tenants on one log: nothing of one reaches the other, by whatever way. */
import type { Client } from "mica-mcp/client";
import { connect, McpError } from "mica-mcp/client";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { memoryTransport } from "mica-mcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { protectionOf } from "../src/authorization.js";
import { type DevIssuer, startDevIssuer } from "../src/dev-issuer.js";
import { createIncidentServer } from "../src/server.js";
import { openSqliteStore } from "../src/sqlite-store.js";
import type { IncidentStore } from "../src/store.js";
import { NOBODY, tenantOf } from "../src/tenant.js";
import { temporaryFiles } from "./folder.js";

const file = temporaryFiles();
const RESOURCE = "https://incidents.example.com/mcp";
let issuer: DevIssuer;
let store: IncidentStore;
let path: string;
let http: HttpServer;
const clients: Client[] = [];

beforeEach(async () => {
  path = file();
  issuer = await startDevIssuer({ scopes: [], resource: () => RESOURCE });
  store = openSqliteStore(path, { watchEveryMs: 10 });
  const auth = protectionOf(issuer.issuer, RESOURCE);
  http = await serveHttp(createIncidentServer(store), { port: 0, auth });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await http.close();
  await store.close();
  await issuer.close();
});

async function as(claims: Record<string, unknown>): Promise<Client> {
  const exp = Math.floor(Date.now() / 1000) + 60;
  const token = await issuer.sign({
    iss: issuer.issuer,
    aud: RESOURCE,
    exp,
    scope: "incidents:write",
    ...claims,
  });
  const headers = { authorization: `Bearer ${token}` };
  const client = await connect({ url: http.url, headers }, { name: "test", version: "1.0.0" });
  clients.push(client);
  return client;
}

async function said(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool(name, args);
  return content[0]?.type === "text" ? content[0].text : "";
}

const open = (client: Client, title: string): Promise<string> =>
  said(client, "open_incident", { title, severity: "sev2" });
const search = (client: Client, args: Record<string, unknown> = {}): Promise<string[]> =>
  said(client, "search_incidents", args).then((text) =>
    (JSON.parse(text) as { incidents: { id: string }[] }).incidents.map(({ id }) => id),
  );

/** What is said of a failure, without the handle that was asked for. */
async function failure(work: Promise<unknown>, handle: string): Promise<string> {
  const error = await work.then(
    () => expect.unreachable("it was not refused"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(McpError);
  return String((error as McpError).message).replaceAll(handle, "HANDLE");
}

describe("two tenants", () => {
  let acme: Client;
  let other: Client;
  beforeEach(async () => {
    acme = await as({ sub: "one", tenant: "acme" });
    other = await as({ sub: "two", tenant: "other" });
    await open(acme, "Queue backed up");
    await open(other, "Queue on fire");
    await open(acme, "Disk full");
  });

  it("find their own by whatever search, and share no number", async () => {
    expect(await search(acme)).toEqual(["INC-3", "INC-1"]);
    expect(await search(other)).toEqual(["INC-2"]);
    for (const query of [{}, { state: "open" }, { severity: "sev2" }, { severity: "sev2", state: "open" }]) {
      expect(await search(acme, { ...query, text: "queue" })).toEqual(["INC-1"]);
      expect(await search(other, { ...query, text: "queue" })).toEqual(["INC-2"]);
      expect(await search(other, query)).toEqual(["INC-2"]);
    }
    expect(await search(other, { text: "INC-1" })).toEqual([]);
    expect(await search(other, { text: "inc-3 disk" })).toEqual([]);
    expect(await search(acme, { text: "INC-1" })).toEqual(["INC-1"]);
    expect(await search(acme, { cursor: "before-3" })).toEqual(["INC-1"]);
    expect(await search(other, { cursor: "before-2" })).toEqual([]);
    const colleague = await as({ sub: "three", tenant: "acme" });
    expect(await search(colleague, { text: "queue" })).toEqual(["INC-1"]);
  });

  it("cannot tell a foreign handle from a missing one", async () => {
    const resolving = await Promise.all(
      ["INC-1", "INC-99"].map(async (id) => {
        const answer = await other.callTool("resolve_incident", { id, cause: "Guessed" });
        return JSON.stringify(answer).replaceAll(id, "HANDLE");
      }),
    );
    expect(resolving[0]).toBe(resolving[1]);
    expect(resolving[0]).toContain("No incident HANDLE");
    const uris = ["incidents://INC-1", "incidents://INC-99"] as const;
    const [foreign, missing] = await Promise.all(uris.map((uri) => failure(other.readResource(uri), uri)));
    expect(foreign).toBe(missing);
    const prompts = ["INC-1", "INC-99"].map((id) => failure(other.getPrompt("postmortem", { id }), id));
    const [foreignPrompt, missingPrompt] = await Promise.all(prompts);
    expect(foreignPrompt).toBe(missingPrompt);
    expect(JSON.stringify(await acme.readResource("incidents://INC-1"))).toContain(
      String.raw`\"state\":\"open\"`,
    );
  });

  it("list and complete their own only", async () => {
    const listed = JSON.stringify(await other.readResource("incidents://open"));
    expect(listed).toContain(String.raw`\"total\":1`);
    expect(listed).toContain("INC-2");
    expect(listed).not.toMatch(/INC-1|INC-3/);
    for (const ref of [
      { type: "ref/prompt", name: "postmortem" } as const,
      { type: "ref/resource", uri: "incidents://{id}" } as const,
    ]) {
      const values = async (client: Client) =>
        (await client.complete(ref, { name: "id", value: "" })).completion;
      expect(await values(acme)).toMatchObject({ values: ["INC-3", "INC-1"], total: 2 });
      expect(await values(other)).toMatchObject({ values: ["INC-2"], total: 1 });
    }
  });

  it("hear of their own changes only, by whichever process", async () => {
    const uris = ["incidents://open", "incidents://INC-1", "incidents://INC-2"];
    const heard: Record<string, string[]> = { acme: [], other: [] };
    const subscriptions = await Promise.all(
      Object.entries({ acme, other }).map(async ([name, client]) => {
        const subscription = client.listen({ resourceSubscriptions: uris }, { reopen: false });
        // The same answer to both: a subscription does not tell what is there, either.
        expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: uris });
        void (async () => {
          for await (const event of subscription)
            if (event.type === "resourceUpdated") heard[name]!.push(event.uri);
        })();
        return subscription;
      }),
    );
    const elsewhere = openSqliteStore(path);
    const tenant = tenantOf({ principal: "", scopes: [], claims: { tenant: "acme" } });
    await said(acme, "resolve_incident", { id: "INC-1", cause: "A stuck consumer" });
    await elsewhere.of(tenant).resolve(3, "Elsewhere");
    await elsewhere.of(NOBODY).open({ title: "Over stdio", severity: "sev4" });
    // Last of all, so that what should not be heard would have been heard by then.
    await elsewhere
      .of(tenantOf({ principal: "", scopes: [], claims: { tenant: "other" } }))
      .resolve(2, "Out");
    await expect.poll(() => heard["other"]).toHaveLength(2);
    expect(heard["other"]).toEqual(["incidents://INC-2", "incidents://open"]);
    await expect.poll(() => heard["acme"]).toContain("incidents://INC-1");
    expect(heard["acme"]).not.toContain("incidents://INC-2");
    await elsewhere.close();
    for (const subscription of subscriptions) await subscription.close();
  });

  it("are strangers to whoever is not asked who they are", async () => {
    const transport = memoryTransport(createIncidentServer(store));
    await using local = await connect({ transport }, { name: "local", version: "1.0.0" });
    expect(await search(local)).toEqual([]);
    await open(local, "Queue local");
    expect(await search(local, { text: "queue" })).toEqual(["INC-4"]);
    expect(await search(acme, { text: "queue" })).toEqual(["INC-1"]);
  });
});

describe("tenantOf", () => {
  const of = (principal: string, tenant?: unknown) =>
    tenantOf({ principal, scopes: [], claims: tenant === undefined ? {} : { tenant } });

  it("is the claim where it is a text, else the caller alone", async () => {
    const one = await as({ sub: "one" });
    const two = await as({ sub: "two", tenant: "" });
    await open(one, "Mine");
    expect(await search(one)).toEqual(["INC-1"]);
    expect(await search(two)).toEqual([]);
    expect(of("a", "acme")).toBe(of("b", "acme"));
    for (const tenant of ["", 7, null, ["acme"], {}]) expect(of("a", tenant)).toBe(of("a"));
  });

  it("mistakes nobody for another", () => {
    const all = [of("a"), of("b"), of("x", "a"), of("x", of("a")), of("x", "\ud800"), of("x", "\ud801")];
    all.push(of("x", "\ufffd"), of("x", "a\0"), tenantOf(undefined));
    expect(new Set(all).size).toBe(all.length);
    for (const tenant of all) expect(tenant.isWellFormed()).toBe(true);
  });
});
