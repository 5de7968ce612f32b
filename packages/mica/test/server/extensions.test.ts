/** What extensions may not do to a server, and what is left of a subscription that one of them fails. */
import { expect, it } from "vitest";
import type { ExtensionParts, ListenPart, ServerExtension } from "../../src/server/extension.js";
import { createServer } from "../../src/server/server.js";
import { callerOf } from "../support/caller.js";

const extension = (id: string, parts: ExtensionParts): ServerExtension => ({
  id,
  settings: {},
  install: () => parts,
});
const serverWith = (...extensions: ServerExtension[]) =>
  createServer({ name: "test", version: "1.0.0", extensions, onError: () => {} });

const background = { check: () => {}, offer: () => undefined };
const served = { methods: { "example/run": () => ({}) } };

it.each([
  [
    "a method of the protocol",
    [extension("a", { methods: { "tools/call": () => ({}) } })],
    "createServer: an extension serves tools/call, which is served already",
  ],
  [
    "a method of another extension",
    [extension("a", served), extension("b", served)],
    "createServer: an extension serves example/run, which is served already",
  ],
  [
    "two ways to carry calls on",
    [extension("a", { background }), extension("b", { background })],
    "createServer: two extensions carry calls on in the background; expected at most one",
  ],
])("%s is refused", (_, extensions, message) => {
  expect(() => serverWith(...extensions)).toThrow(new TypeError(message));
});

const listen = (part: ListenPart) => {
  const server = serverWith(extension("a", { listen: part }));
  return { server, ended: callerOf(server).send("subscriptions/listen", { notifications: {} }) };
};

it("ends a subscription that an extension cannot start, and gives back what others started", async () => {
  let given = 0;
  const server = serverWith(
    extension("a", { listen: () => ({ agreed: {}, start: () => () => given++ }) }),
    extension("b", {
      listen: () => ({
        agreed: {},
        start() {
          throw new Error("no");
        },
      }),
    }),
  );
  const answer = await callerOf(server).send("subscriptions/listen", { notifications: {} });
  expect(answer).toMatchObject({ error: { code: -32603 } });
  expect(given).toBe(1);
});

it("ends a subscription that was being read when all were ended", async () => {
  let goOn = (): void => {};
  const { server, ended } = listen(async () => {
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return undefined;
  });
  await new Promise((resolve) => setImmediate(resolve));
  server.endSubscriptions();
  goOn();
  expect(await ended).toMatchObject({ result: {} });
});
