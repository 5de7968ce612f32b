/** What a caller may do: scopes per tool, resource and prompt, all that are missing at once, and hierarchies. */
import { beforeEach, describe, expect, it } from "vitest";
import { type ProtectionOptions, protect } from "../../../src/entry/auth.js";
import { headersOf, request } from "../../http/fixture.js";
import { type AuthorizationServer, authorizationServer, METADATA, RESOURCE } from "./authorization-server.js";
import { BINDINGS, type Endpoint, type Incidents, incidentServer, type Sent } from "./fixture.js";

const lacking = (needed: string, missing: string): string =>
  `Bearer error="insufficient_scope", scope="${needed}", resource_metadata="${METADATA}", ` +
  `error_description="Missing scopes: ${missing}"`;

describe.each(Object.entries(BINDINGS))("%s", (_, start) => {
  let issuer: AuthorizationServer;
  let server: Incidents;
  let endpoint: Endpoint;
  const protectedBy = (more: Partial<ProtectionOptions> = {}) =>
    protect(server, {
      resource: RESOURCE,
      authorizationServers: [issuer.issuer],
      scopes: ["incidents:read"],
      ...more,
    });
  const holding = (scope: string) => issuer.issue({ scope });
  const expectChallenge = (sent: Sent, challenge: string) => {
    expect({ status: sent.status, challenge: sent.challenge }).toEqual({ status: 403, challenge });
    expect(server.seen).toEqual([]);
  };

  beforeEach(async () => {
    issuer = await authorizationServer();
    server = incidentServer();
    endpoint = await start(protectedBy());
  });

  it("a tool's own scope is asked for, together with what every request needs", async () => {
    const sent = await endpoint.call("close_incident", await holding("incidents:read"));
    expectChallenge(sent, lacking("incidents:read incidents:write", "incidents:write"));
    expect(sent.json).toMatchObject({
      id: 1,
      error: { code: -32600, message: "Missing scopes: incidents:write" },
    });
  });

  it("every missing scope is named at once, those of every request among them", async () => {
    const all = "audit:write incidents:admin incidents:read incidents:write";
    expectChallenge(await endpoint.call("purge", await holding("")), lacking(all, all));
    expectChallenge(
      await endpoint.call("purge", await holding("incidents:write incidents:read other")),
      lacking(all, "audit:write incidents:admin"),
    );
  });

  it("a client that asks for exactly what the challenge says can do it afterwards", async () => {
    const first = await endpoint.call("purge", await holding("incidents:read"));
    const scope = /scope="([^"]*)"/.exec(first.challenge!)![1]!;
    expect((await endpoint.call("purge", await holding(scope))).status).toBe(200);
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ["a resource", "resources/read", { uri: "incidents://audit" }, "audit:read"],
    ["a resource by template", "resources/read", { uri: "incidents://7/log" }, "logs:read"],
    ["a prompt", "prompts/get", { name: "report" }, "reports:write"],
    [
      "suggestions for a template",
      "completion/complete",
      { ref: { type: "ref/resource", uri: "incidents://{id}/log" }, argument: { name: "id", value: "" } },
      "logs:read",
    ],
    [
      "suggestions for a prompt",
      "completion/complete",
      { ref: { type: "ref/prompt", name: "report" }, argument: { name: "x", value: "" } },
      "reports:write",
    ],
    [
      "news of resources",
      "subscriptions/listen",
      {
        notifications: {
          resourceSubscriptions: ["incidents://open", "incidents://audit", "incidents://7/log"],
        },
      },
      "audit:read logs:read",
    ],
  ])("%s needs its own", async (_, method, params, missing) => {
    const sent = await endpoint.ask(method, params, await holding("incidents:read"));
    const needed = [...missing.split(" "), "incidents:read"].sort().join(" ");
    expectChallenge(sent, lacking(needed, missing));
  });

  it("what needs nothing of its own is served, and what is unknown is answered as such", async () => {
    const token = await holding("incidents:read");
    expect((await endpoint.call("list_incidents", token)).status).toBe(200);
    expect((await endpoint.ask("resources/read", { uri: "incidents://open" }, token)).status).toBe(200);
    expect((await endpoint.ask("tools/list", {}, token)).status).toBe(200);
    const unknown = await endpoint.call("nope", token);
    expect(unknown.json.error?.message).toBe("Unknown tool: nope");
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect((await endpoint.call(name, token)).json.error?.message).toBe(`Unknown tool: ${name}`);
    }
  });

  it("a broad scope stands for the narrower ones that it implies, over any number of steps", async () => {
    const broad = await start(
      protectedBy({
        scopeHierarchy: {
          incidents: ["incidents:admin"],
          "incidents:admin": ["incidents:write"],
          "incidents:write": ["incidents:read"],
          // Round in a circle, which must end.
          "incidents:read": ["incidents:read"],
        },
      }),
    );
    expect((await broad.call("close_incident", await holding("incidents"))).status).toBe(200);
    expect(server.seen.pop()!.auth!.scopes).toEqual([
      "incidents",
      "incidents:admin",
      "incidents:read",
      "incidents:write",
    ]);
    expect((await broad.call("close_incident", await holding("incidents:write"))).status).toBe(200);
    server.seen.length = 0;
    // Never upwards.
    expectChallenge(
      await broad.call("close_incident", await holding("incidents:read")),
      lacking("incidents:read incidents:write", "incidents:write"),
    );
    expectChallenge(
      await broad.call("purge", await holding("incidents")),
      lacking("audit:write incidents:admin incidents:read incidents:write", "audit:write"),
    );
  });

  it("is a set: a scope that merely begins alike, or is spelled otherwise, is another", async () => {
    for (const scope of ["incidents:read:all", "Incidents:Read", "incidents", "__proto__"]) {
      expect((await endpoint.call("list_incidents", await holding(scope))).status).toBe(403);
    }
  });

  it("a server that asks for none still asks who calls, and names none", async () => {
    const open = await start(protectedBy({ scopes: [] }));
    const sent = await open.call("list_incidents");
    expect(sent.challenge).toBe(`Bearer resource_metadata="${METADATA}"`);
    expect((await open.call("list_incidents", await holding(""))).status).toBe(200);
    server.seen.length = 0;
    expectChallenge(
      await open.call("close_incident", await holding("")),
      lacking("incidents:write", "incidents:write"),
    );
  });

  it("leaves out of lists what the caller may not use, and says that they are private", async () => {
    server = incidentServer({ filterByScope: true });
    const filtered = await start(protectedBy());
    const names = async (method: string, member: string, scope: string) => {
      const { json } = await filtered.ask(method, {}, await holding(scope));
      const result = json.result as Record<string, unknown>;
      expect(result["cacheScope"]).toBe("private");
      return (result[member] as { name: string }[]).map(({ name }) => name);
    };
    const reads = "incidents:read";
    expect(await names("tools/list", "tools", reads)).toEqual(["list_incidents"]);
    expect(await names("tools/list", "tools", `${reads} incidents:write`)).toEqual([
      "list_incidents",
      "close_incident",
    ]);
    expect(await names("tools/list", "tools", reads)).toEqual(["list_incidents"]);
    expect(await names("resources/list", "resources", reads)).toEqual(["open"]);
    expect(await names("resources/list", "resources", `${reads} audit:read`)).toEqual(["open", "audit"]);
    expect(await names("resources/templates/list", "resourceTemplates", reads)).toEqual([]);
    expect(await names("resources/templates/list", "resourceTemplates", `logs:read ${reads}`)).toEqual([
      "log",
    ]);
    expect(await names("prompts/list", "prompts", reads)).toEqual([]);
    // Hidden is not enough: a call is refused all the same.
    expect((await filtered.call("purge", await holding(reads))).status).toBe(403);
  });

  it("does not tell anybody of scopes in lists", async () => {
    const { text } = await endpoint.ask("tools/list", {}, await holding("incidents:read"));
    expect(text).toContain("purge");
    expect(text).not.toContain("incidents:admin");
    const resources = await endpoint.ask("resources/list", {}, await holding("incidents:read"));
    expect(resources.text).not.toContain("audit:read");
  });

  it("answers a notification, too, to those only who may call", async () => {
    const message = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const send = (token?: string) =>
      endpoint.send({
        headers: {
          ...headersOf(request("tools/list")),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(message),
      });
    expect((await send()).status).toBe(401);
    expect((await send(await holding("incidents:read"))).status).toBe(202);
  });
});
