/** What outlives a request ends with the token that asked for it, and goes on with the next one. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { protect } from "../../../src/entry/auth.js";
import { createServer, type Server } from "../../../src/server/server.js";
import { headersOf, request } from "../../http/fixture.js";
import {
  call,
  ENDPOINTS,
  type Endpoint,
  initialize,
  type Json,
  notification,
  request as oldRequest,
  type Reply,
  send,
} from "../../legacy/http-fixture.js";
import { type AuthorizationServer, authorizationServer, RESOURCE } from "./authorization-server.js";

const CHANGED = "notifications/tools/list_changed";
const UPDATED = "notifications/resources/updated";
const has = (method: string) => (message: Json) => message["method"] === method;
const count = (reply: Reply, method: string) => reply.messages.filter(has(method)).length;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(Object.entries(ENDPOINTS))("%s", (_, start) => {
  let issuer: AuthorizationServer;
  let server: Server;
  let endpoint: Endpoint;
  beforeEach(async () => {
    issuer = await authorizationServer();
    server = createServer({ name: "changing", version: "1.0.0", limits: { maxSubscriptions: 2 } });
    server.tool("a", {}, () => "a");
    server.resource("note://1", { name: "one" }, () => "1");
    server.resource("note://secret", { name: "two", scopes: ["audit:read"] }, () => "2");
    const guarded = protect(server, {
      resource: RESOURCE,
      authorizationServers: [issuer.issuer],
      scopes: ["incidents:read"],
      limits: { clockToleranceMs: 0 },
    });
    endpoint = await start(guarded, { legacy: { sessions: {} } });
    onTestFinished(() => endpoint.close());
  });

  const lasting = (ms: number, claims: Record<string, unknown> = {}): Promise<string> =>
    issuer.issue({ exp: (Date.now() + ms) / 1000, ...claims });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  describe("a subscription", () => {
    const listen = (token: string): Promise<Reply> => {
      const message = request("subscriptions/listen", { notifications: { toolsListChanged: true } });
      return send(endpoint.url, { body: message, headers: { ...headersOf(message), ...bearer(token) } });
    };

    it("ends with its token: by its response, and not before", async () => {
      const short = await listen(await lasting(600));
      const long = await listen(await lasting(60_000));
      await short.until(has("notifications/subscriptions/acknowledged"));
      await long.until(has("notifications/subscriptions/acknowledged"));
      server.tool("b", {}, () => "b");
      await short.until(has(CHANGED));
      expect(short.isEnded).toBe(false);
      const response = await short.until(({ id }) => id === 1);
      expect(response).toMatchObject({
        id: 1,
        result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
      });
      await short.text();
      server.tool("c", {}, () => "c");
      await expect.poll(() => count(long, CHANGED)).toBe(2);
      expect(count(short, CHANGED)).toBe(1);
      expect(long.isEnded).toBe(false);
      // And it makes room for another.
      const third = await listen(await lasting(60_000));
      await third.until(has("notifications/subscriptions/acknowledged"));
      long.break();
      third.break();
    });

    it("whose caller went away before leaves nothing behind", async () => {
      const gone = await listen(await lasting(300));
      await gone.until(has("notifications/subscriptions/acknowledged"));
      gone.break();
      await pause(400);
      const next = await listen(await lasting(60_000));
      await next.until(has("notifications/subscriptions/acknowledged"));
      next.break();
    });

    it("of a token that lasts longer than a timer can, stays", async () => {
      const open = await listen(await issuer.issue({ exp: 1e11 }));
      await open.until(has("notifications/subscriptions/acknowledged"));
      await pause(50);
      expect(open.isEnded).toBe(false);
      open.break();
    });
  });

  describe("the stream of a session", () => {
    let id: string;
    const headers = (token: string) => ({
      "mcp-session-id": id,
      "mcp-protocol-version": "2025-11-25",
      ...bearer(token),
    });
    const post = async (token: string, body: unknown): Promise<Reply> => {
      const reply = await send(endpoint.url, { body, headers: headers(token) });
      await reply.text();
      return reply;
    };
    const get = (token: string): Promise<Reply> =>
      send(endpoint.url, { method: "GET", headers: { ...headers(token), accept: "text/event-stream" } });
    const subscribe = async (token: string, uri: string): Promise<Json> => {
      const reply = await post(token, oldRequest("s", "resources/subscribe", { uri }));
      return reply.messages[0] ?? (JSON.parse(await reply.text()) as Json);
    };

    async function open(token: string): Promise<Reply> {
      const opened = await send(endpoint.url, { body: initialize("2025-11-25"), headers: bearer(token) });
      id = String(opened.headers["mcp-session-id"]);
      await opened.text();
      await post(token, notification("notifications/initialized"));
      return get(token);
    }

    it("ends with the token, and the session does not: the next token goes on where it was", async () => {
      const first = await lasting(700);
      const stream = await open(first);
      expect(await subscribe(first, "note://1")).toMatchObject({ result: {} });
      server.tool("b", {}, () => "b");
      await stream.until(has(CHANGED));
      await stream.text();
      expect((await get(first)).status).toBe(401);
      server.tool("c", {}, () => "c");
      const second = await lasting(60_000);
      const next = await get(second);
      expect(next.status).toBe(200);
      // Nobody listened for a while: whatever may have changed is said to have.
      await next.until(has(CHANGED));
      expect(await next.until(has(UPDATED))).toMatchObject({ params: { uri: "note://1" } });
      server.resourceUpdated("note://1");
      await expect.poll(() => count(next, UPDATED)).toBe(2);
      next.break();
    });

    it("lasts as long as the last token that was shown", async () => {
      const stream = await open(await lasting(500));
      await post(await lasting(60_000), call(1, "a"));
      await pause(700);
      expect(stream.isEnded).toBe(false);
      server.tool("b", {}, () => "b");
      await stream.until(has(CHANGED));
      // None is told twice over.
      await pause(50);
      expect(count(stream, CHANGED)).toBe(1);
      stream.break();
    });

    it("is not made longer by the token of somebody else, nor shorter by one that ends sooner", async () => {
      const stream = await open(await lasting(600));
      expect((await post(await lasting(60_000, { sub: "jo" }), call(1, "a"))).status).toBe(404);
      await post(await lasting(200), call(2, "a"));
      await pause(350);
      expect(stream.isEnded).toBe(false);
      await stream.text();
    });

    it("tells of a resource no longer than there is a token for it", async () => {
      const strong = await lasting(700, { scope: "incidents:read audit:read" });
      const stream = await open(strong);
      expect(await subscribe(strong, "note://secret")).toMatchObject({ result: {} });
      const weak = await lasting(60_000);
      await post(weak, call(1, "a"));
      server.resourceUpdated("note://secret");
      await stream.until(has(UPDATED));
      await pause(750);
      expect(stream.isEnded).toBe(false);
      await post(weak, call(2, "a"));
      server.resourceUpdated("note://secret");
      server.tool("b", {}, () => "b");
      await stream.until(has(CHANGED));
      await pause(50);
      expect(count(stream, UPDATED)).toBe(1);
      stream.break();
    });
  });
});
