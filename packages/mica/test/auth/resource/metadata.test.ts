/** Protected resource metadata (RFC 9728): the document as it was given, at both paths, readable by every page. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { protectedResourceMetadataUrls } from "../../../src/auth/shared/well-known.js";
import {
  createProtection,
  metadataHandler,
  metadataResponse,
  type ProtectionOptions,
  protect,
} from "../../../src/entry/auth.js";
import { RESOURCE } from "./authorization-server.js";
import { BINDINGS, type Endpoint, incidentServer } from "./fixture.js";

const AUTHORIZATION_SERVERS = ["https://auth.example.com", "https://auth.example.org/tenant/"];
const options = (more: Partial<ProtectionOptions> = {}): ProtectionOptions => ({
  resource: RESOURCE,
  authorizationServers: AUTHORIZATION_SERVERS,
  scopes: ["incidents:read"],
  ...more,
});
const ROOT = "/.well-known/oauth-protected-resource";

describe.each(Object.entries(BINDINGS))("%s", (_, start) => {
  let endpoint: Endpoint;
  beforeEach(async () => {
    endpoint = await start(protect(incidentServer(), options()));
  });
  const get = (path: string, method = "GET", headers: Record<string, string> = {}) =>
    endpoint.send({ method, path, headers });

  it.each([`${ROOT}/mcp`, ROOT, `${ROOT}/mcp?x=1`])("serves it at %s, without a token", async (path) => {
    const sent = await get(path);
    expect(sent.status).toBe(200);
    expect(sent.headers["content-type"]).toBe("application/json");
    expect(sent.json).toEqual({
      resource: RESOURCE,
      authorization_servers: AUTHORIZATION_SERVERS,
      scopes_supported: ["incidents:read"],
      bearer_methods_supported: ["header"],
    });
  });

  it.each([
    "https://example.com",
    "https://example.com/",
    "HTTPS://Example.COM/mcp",
    "https://example.com:443/x",
  ])("gives the resource %s back exactly", async (resource) => {
    const other = await start(protect(incidentServer(), options({ resource })));
    const sent = await other.send({ method: "GET", path: ROOT });
    expect(sent.json).toMatchObject({ resource });
    const challenge = (await other.call("list_incidents")).challenge!;
    const url = /resource_metadata="([^"]*)"/.exec(challenge)![1]!;
    expect(url).toBe(protectedResourceMetadataUrls(resource)[0]);
    const { pathname } = new URL(url);
    expect((await other.send({ method: "GET", path: pathname })).json).toMatchObject({ resource });
  });

  it("is readable by pages of any origin, which ask beforehand", async () => {
    const origin = "https://anywhere.example.net";
    const sent = await get(ROOT, "GET", { origin });
    expect(sent.status).toBe(200);
    expect(sent.headers["access-control-allow-origin"]).toBe("*");
    const asked = await get(`${ROOT}/mcp`, "OPTIONS", {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "mcp-protocol-version, x-other",
    });
    expect(asked.status).toBe(204);
    expect(asked.headers["access-control-allow-origin"]).toBe("*");
    expect(asked.headers["access-control-allow-methods"]).toBe("GET");
    expect(asked.headers["access-control-allow-headers"]).toBe("mcp-protocol-version");
    // Everything else is not.
    expect((await get("/mcp", "OPTIONS", { origin })).status).toBe(403);
  });

  it("takes HEAD, and nothing that changes anything", async () => {
    const head = await get(ROOT, "HEAD");
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: "" });
    for (const method of ["POST", "PUT", "DELETE"]) {
      const sent = await get(ROOT, method);
      expect({ status: sent.status, allow: sent.headers.allow }).toEqual({ status: 405, allow: "GET, HEAD" });
    }
  });

  it("is not for hosts that are not served", async () => {
    expect((await get(ROOT, "GET", { host: "evil.example.com" })).status).toBe(403);
  });

  it("is not anywhere else", async () => {
    for (const path of [`${ROOT}/other`, `${ROOT}/mcp/`, "/.well-known/oauth-authorization-server"]) {
      const sent = await get(path);
      expect([401, 404, 405]).toContain(sent.status);
      expect(sent.text).not.toContain("authorization_servers");
    }
  });

  it("is not there where nobody is asked who they are", async () => {
    const open = await start(incidentServer());
    expect([404, 405]).toContain((await open.send({ method: "GET", path: ROOT })).status);
    expect((await open.call("list_incidents")).status).toBe(200);
  });
});

describe("the document", () => {
  const documentOf = (more: Partial<ProtectionOptions>) =>
    JSON.parse(createProtection(options(more)).metadata.json);

  it("takes more members, but not those that the protection decides", () => {
    const metadata = { resource_name: "Incidents", resource_documentation: "https://example.com/docs" };
    expect(documentOf({ metadata })).toMatchObject(metadata);
    for (const name of [
      "resource",
      "authorization_servers",
      "scopes_supported",
      "bearer_methods_supported",
    ]) {
      expect(() => documentOf({ metadata: { [name]: [] } })).toThrow(`metadata.${name} is decided by`);
    }
  });

  it("names other scopes than those that every request needs where it is told to", () => {
    expect(documentOf({ scopesSupported: ["a", "b"] })["scopes_supported"]).toEqual(["a", "b"]);
    expect(documentOf({ scopes: [] })).not.toHaveProperty("scopes_supported");
  });

  it.each([
    ["https://a.example", ["https://a.example/.well-known/oauth-protected-resource"]],
    ["https://a.example/", ["https://a.example/.well-known/oauth-protected-resource"]],
    [
      "https://a.example:8443/x/y",
      [
        "https://a.example:8443/.well-known/oauth-protected-resource/x/y",
        "https://a.example:8443/.well-known/oauth-protected-resource",
      ],
    ],
    [
      "https://a.example/x?tenant=1",
      [
        "https://a.example/.well-known/oauth-protected-resource/x?tenant=1",
        "https://a.example/.well-known/oauth-protected-resource",
      ],
    ],
  ])("of %s stands at %j", (resource, urls) => {
    expect(protectedResourceMetadataUrls(resource)).toEqual(urls);
  });
});

describe("mounted in a server of one's own", () => {
  it("by a listener, at whatever path is routed to it", async () => {
    const listener = http.createServer(metadataHandler(createProtection(options())));
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      listener.closeAllConnections();
      listener.close();
    });
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/anywhere`;
    const response = await fetch(url);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response.json()).toMatchObject({ resource: RESOURCE });
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
  });

  it("as a response", async () => {
    const protection = createProtection(options());
    const response = metadataResponse(protection, new Request("https://mcp.example.com/x"));
    expect(await response.json()).toMatchObject({ resource: RESOURCE });
    expect(metadataResponse(protection, new Request("https://a.example", { method: "OPTIONS" })).status).toBe(
      204,
    );
  });
});
