/** Clients of earlier revisions are asked for the same token, with every request, and for the same scopes. */
import { beforeEach, describe, expect, it } from "vitest";
import { protect } from "../../../src/entry/auth.js";
import { type AuthorizationServer, authorizationServer, METADATA, RESOURCE } from "./authorization-server.js";
import { BINDINGS, type Endpoint, type Incidents, incidentServer, type Sent } from "./fixture.js";

const NOBODY = `Bearer resource_metadata="${METADATA}", scope="incidents:read"`;
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const message = (method: string, params: object, id: number | undefined = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const initialize = message("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "old", version: "1.0.0" },
});

describe.each(Object.entries(BINDINGS))("%s", (_, start) => {
  let issuer: AuthorizationServer;
  let server: Incidents;
  let endpoint: Endpoint;

  const begin = (legacy: object | undefined) =>
    start(
      protect(server, {
        resource: RESOURCE,
        authorizationServers: [issuer.issuer],
        scopes: ["incidents:read"],
      }),
      { legacy },
    );
  const send = (
    body: unknown,
    token?: string,
    headers: Record<string, string> = {},
    method = "POST",
  ): Promise<Sent> =>
    endpoint.send({
      method,
      headers: { ...HEADERS, ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(method === "POST" && { body: JSON.stringify(body) }),
    });
  const version = { "mcp-protocol-version": "2025-11-25" };
  const call = (name: string) => message("tools/call", { name, arguments: {} });

  beforeEach(async () => {
    issuer = await authorizationServer();
    server = incidentServer();
  });

  describe("without sessions", () => {
    beforeEach(async () => {
      endpoint = await begin(undefined);
    });

    it("401 without a token, from the first message on", async () => {
      for (const body of [
        initialize,
        call("list_incidents"),
        [call("list_incidents")],
        message("ping", {}),
      ]) {
        const sent = await send(body, undefined, version);
        expect({ status: sent.status, challenge: sent.challenge }).toEqual({
          status: 401,
          challenge: NOBODY,
        });
      }
      expect((await send(initialize)).status).toBe(401);
      expect(server.seen).toEqual([]);
    });

    it("served with one, as who it says", async () => {
      const token = await issuer.issue();
      expect((await send(initialize, token)).json.result).toMatchObject({ protocolVersion: "2025-11-25" });
      const sent = await send(call("list_incidents"), token, version);
      expect(sent.text).toContain(`hello ${issuer.issuer}#maria`);
      expect(server.seen[0]!.auth).toMatchObject({ principal: `${issuer.issuer}#maria` });
    });

    it("403 with every missing scope at once, of all messages of a batch", async () => {
      const token = await issuer.issue();
      const one = await send(call("close_incident"), token, version);
      expect({ status: one.status, challenge: one.challenge }).toEqual({
        status: 403,
        challenge: `Bearer error="insufficient_scope", scope="incidents:read incidents:write", resource_metadata="${METADATA}", error_description="Missing scopes: incidents:write"`,
      });
      const read = message("resources/read", { uri: "incidents://audit" }, 2);
      const batch = await send([call("close_incident"), read], token, {
        "mcp-protocol-version": "2025-03-26",
      });
      expect(batch.status).toBe(403);
      expect(batch.challenge).toContain("Missing scopes: audit:read incidents:write");
      expect(server.seen).toEqual([]);
    });

    it("403 for whoever lacks what every request needs, already at the handshake", async () => {
      const sent = await send(initialize, await issuer.issue({ scope: "other" }));
      expect(sent.status).toBe(403);
      expect(sent.challenge).toContain('scope="incidents:read"');
    });
  });

  describe("with sessions", () => {
    let session: Record<string, string>;
    let token: string;
    beforeEach(async () => {
      endpoint = await begin({ sessions: {} });
      token = await issuer.issue();
      const opened = await send(initialize, token);
      expect(opened.status).toBe(200);
      session = { ...version, "mcp-session-id": String(opened.headers["mcp-session-id"]) };
      await send(message("notifications/initialized", {}, undefined), token, session);
    });

    it("the id of a session is no credential: 401 for every method", async () => {
      for (const method of ["POST", "GET", "DELETE"]) {
        const sent = await send(call("list_incidents"), undefined, session, method);
        expect({ method, status: sent.status, challenge: sent.challenge }).toEqual({
          method,
          status: 401,
          challenge: NOBODY,
        });
      }
      expect((await send(call("list_incidents"), token, session)).text).toContain("maria");
    });

    it("the session of somebody else looks like none", async () => {
      const other = await issuer.issue({ sub: "jo" });
      for (const method of ["POST", "GET", "DELETE"]) {
        expect((await send(call("list_incidents"), other, session, method)).status).toBe(404);
      }
      expect((await send(call("list_incidents"), token, session)).text).toContain("maria");
    });

    it("what counts is the token of the request, not the one that opened the session", async () => {
      expect((await send(call("close_incident"), token, session)).status).toBe(403);
      const more = await issuer.issue({ scope: "incidents:read incidents:write" });
      expect((await send(call("close_incident"), more, session)).text).toContain("maria");
      expect(server.seen.at(-1)!.auth!.scopes).toContain("incidents:write");
      expect((await send(call("close_incident"), token, session)).status).toBe(403);
    });

    it("streams and endings need what every request needs", async () => {
      const weak = await issuer.issue({ scope: "other" });
      for (const method of ["GET", "DELETE"]) {
        const sent = await send(undefined, weak, session, method);
        expect(sent.status).toBe(403);
        expect(sent.challenge).toContain('scope="incidents:read"');
      }
    });

    it("news of a resource need its scopes", async () => {
      const subscribe = message("resources/subscribe", { uri: "incidents://audit" }, 5);
      const sent = await send(subscribe, token, session);
      expect(sent.json).toMatchObject({ id: 5, error: { data: { missingScopes: ["audit:read"] } } });
      const open = message("resources/subscribe", { uri: "incidents://open" }, 6);
      expect((await send(open, token, session)).json).toMatchObject({ id: 6, result: {} });
    });
  });
});
