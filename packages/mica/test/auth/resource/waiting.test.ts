/** What happens while a token is being judged: the body waits, the client may leave, and the server may shut down. */
import { createHash } from "node:crypto";
import http from "node:http";
import { expect, it } from "vitest";
import { protect, type TokenVerifier } from "../../../src/entry/auth.js";
import { serveHttp } from "../../../src/http/serve.js";
import { createServer } from "../../../src/server/server.js";
import { call, eventually, headersOf } from "../../http/fixture.js";
import { now, RESOURCE } from "./authorization-server.js";
import { BINDINGS, incidentServer, textOf } from "./fixture.js";

/** A verifier that waits to be let go. */
function slow() {
  const claims = { sub: "maria", aud: RESOURCE, exp: now() + 60 };
  let waiting = 0;
  let letGo = (): void => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const verify: TokenVerifier = async () => {
    waiting += 1;
    await gate;
    return claims;
  };
  return { verify, letGo: () => letGo(), isWaiting: () => waiting > 0 };
}

const options = (verify: TokenVerifier) => ({
  resource: RESOURCE,
  authorizationServers: ["https://auth.example.com"],
  verify,
});

it.each(Object.entries(BINDINGS))("%s: a large body waits, and arrives whole", async (_, start) => {
  const { verify, letGo, isWaiting } = slow();
  const server = createServer({ name: "x", version: "1.0.0" });
  server.tool(
    "digest",
    { input: { type: "object", properties: { text: { type: "string" } } } },
    ({ text }: { text?: unknown }) => createHash("sha256").update(String(text)).digest("hex"),
  );
  const endpoint = await start(protect(server, options(verify)));
  const text = "0123456789abcdef".repeat(200_000);
  const message = call("digest", { text });
  const sent = endpoint.send({
    headers: { ...headersOf(message), authorization: "Bearer x" },
    body: JSON.stringify(message),
  });
  await eventually(isWaiting);
  letGo();
  expect(textOf(await sent)).toBe(createHash("sha256").update(text).digest("hex"));
});

it("a client that has left is not served", async () => {
  const { verify, letGo, isWaiting } = slow();
  const server = incidentServer();
  let judged = 0;
  const { url, close } = await serveHttp(
    protect(
      server,
      options(async (token, context) => {
        const claims = await verify(token, context);
        judged += 1;
        return claims;
      }),
    ),
    { port: 0, drainMs: 60_000 },
  );
  const message = call("list_incidents");
  const sent = http.request(url, {
    method: "POST",
    headers: { ...headersOf(message), authorization: "Bearer x" },
    agent: false,
  });
  sent.on("error", () => {});
  sent.end(JSON.stringify(message));
  await eventually(isWaiting);
  sent.destroy();
  // Nothing is in flight any more, so this does not wait for the drain to run out.
  await close();
  letGo();
  await eventually(() => judged === 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.seen).toEqual([]);
});

it("a request whose token is being judged is in flight, and answered before the server is gone", async () => {
  const { verify, letGo, isWaiting } = slow();
  const { url, close } = await serveHttp(protect(incidentServer(), options(verify)), {
    port: 0,
    drainMs: 60_000,
  });
  const message = call("list_incidents");
  const answered = fetch(url, {
    method: "POST",
    headers: { ...headersOf(message), authorization: "Bearer x" },
    body: JSON.stringify(message),
  });
  await eventually(isWaiting);
  const closed = close();
  letGo();
  expect((await answered).status).toBe(200);
  await closed;
});
