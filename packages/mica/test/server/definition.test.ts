/** Definitions that say something nobody reads are refused by name. */
import { expect, it } from "vitest";
import { createServer } from "../../src/entry/index.js";

const server = createServer({ name: "t", version: "1", onError: () => {} });
const untyped = server as unknown as Record<
  "tool" | "prompt" | "resource" | "resourceTemplate",
  (...args: unknown[]) => void
>;
const nothing = () => "x";

it.each([
  [
    "tool",
    "a",
    { inputSchema: {} },
    /tool "a": inputSchema is no part of a definition; did you mean input\?/,
  ],
  ["tool", "a", { desc: "x" }, /tool "a": desc is no part of a definition; expected title, description/],
  ["tool", "a", null, /tool "a": the definition must be an object, got null/],
  ["tool", "a", "Adds.", /tool "a": the definition must be an object, got string/],
  ["prompt", "p", { argsSchema: {} }, /prompt "p": argsSchema .* did you mean input\?/],
  ["resource", "x://a", { name: "a", secret: 1 }, /resource "x:\/\/a": secret is no part/],
  [
    "resourceTemplate",
    "x://{a}",
    { name: "a", list: nothing },
    /resource template "x:\/\/\{a\}": list is no part/,
  ],
] as const)("%s %j with %j", (kind, key, definition, message) => {
  expect(() => untyped[kind](key, definition, nothing)).toThrow(message);
});

it("an option of the server that nobody reads is refused by name, so that no default is used by mistake", () => {
  const options = { name: "t", version: "1", filterByScopes: true };
  expect(() => createServer(options)).toThrow(
    /createServer: filterByScopes is no option; expected name, version, .*filterByScope, /,
  );
  const undecided = { name: "t", version: "1", colour: undefined };
  expect(() => createServer(undecided)).not.toThrow();
});
