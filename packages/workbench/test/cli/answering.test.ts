/** Who answers what a server asks for, and what is held back meanwhile. */
import { PassThrough } from "node:stream";
import type { ElicitFormParams, ElicitUrlParams, InputContext } from "mica-mcp/client";
import { describe, expect, it } from "vitest";
import { type Answering, createAnswering } from "../../src/cli/answering.js";
import { readCommandLine } from "../../src/cli/command-line.js";
import { createLive } from "../../src/cli/live.js";
import { createScreen } from "../../src/cli/screen.js";
import { eventually } from "../run-command.js";

const page = (url: string): ElicitUrlParams => ({ mode: "url", message: "Pay.", url });
const form: ElicitFormParams = {
  message: "Why?",
  requestedSchema: { type: "object", properties: { a: { type: "string" } } },
};

/** A terminal that a test reads and writes; the target's name is `target`. */
const terminal = (...words: string[]) => terminals(true, true, ...words);

async function terminals(stdinIsOne: boolean, stderrIsOne: boolean, ...words: string[]) {
  const line = readCommandLine(["call", "tool", ...words, "--", "target"], {});
  if (line.kind !== "run") throw new Error("expected a run");
  const stdin = Object.assign(new PassThrough(), { isTTY: stdinIsOne });
  const stderr = Object.assign(new PassThrough(), { isTTY: stderrIsOne }) as unknown as NodeJS.WriteStream;
  let shown = "";
  let from = 0;
  stderr.on("data", (chunk: Buffer) => {
    shown += chunk;
  });
  const interrupted: number[] = [];
  const screen = createScreen({ stdout: stderr, stderr, env: { NO_COLOR: "1" } }, false);
  const live = createLive(screen, line.options);
  const answering = await createAnswering({
    options: line.options,
    target: line.target,
    screen,
    live,
    streams: { stdin, stderr, interrupt: () => interrupted.push(1) },
  });
  return {
    answering,
    live,
    interrupted,
    shown: () => shown,
    /** Waits for more of a text to be shown, then types. */
    async type(seen: string, typed: string) {
      const at = await eventually(() => (shown.includes(seen, from) ? shown.indexOf(seen, from) : undefined));
      from = at + seen.length;
      stdin.write(typed);
    },
  };
}

function context(requests: Record<string, unknown>, key: string, signal?: AbortSignal): InputContext {
  const server = { name: "host", version: "1" };
  return {
    key,
    requests,
    method: "tools/call",
    params: {},
    server,
    signal: signal ?? new AbortController().signal,
  };
}
const asked = (params: unknown) => ({ method: "elicitation/create", params });
const ask = ({ handlers }: Answering, params: ElicitFormParams | ElicitUrlParams, signal?: AbortSignal) => {
  const given = context({ k: asked(params) }, "k", signal);
  return params.mode === "url" ? handlers.onElicitUrl?.(params, given) : handlers.onElicit?.(params, given);
};

describe("a person", () => {
  it("is asked for a page, and not to open it, where the server asks for the same one again", async () => {
    const { answering, type, shown } = await terminal("--no-open");
    const first = ask(answering, page("https://a.example/1"));
    await type("Have you finished there?", "y\r");
    expect(await first).toStrictEqual({ action: "accept" });
    expect(shown()).not.toContain("It asked for this page before");
    const other = ask(answering, page("https://a.example/2"));
    await type("Have you finished there?", "y\r");
    expect(await other).toStrictEqual({ action: "accept" });
    expect(shown()).not.toContain("It asked for this page before");
    const again = ask(answering, page("https://a.example/2"));
    await type("It asked for this page before", "");
    await type("Have you finished there?", "cancel\r");
    expect(await again).toStrictEqual({ action: "cancel" });
  });

  it("is not disturbed by what the server says meanwhile, and sees it afterwards", async () => {
    const { answering, live, type, shown } = await terminal("--verbose");
    live.onServerLine?.("before");
    const answer = ask(answering, form);
    await type("  a: ", "");
    for (let line = 0; line < 1_005; line += 1) live.onServerLine?.(`meanwhile ${line}`);
    live.callbacks.onProgress?.({ progressToken: 1, progress: 1, message: "progress" });
    await type("", "x\r");
    await type("Send?", "\r");
    expect(await answer).toStrictEqual({ action: "accept", content: { a: "x" } });
    await type("[server] meanwhile 1004", "");
    live.onServerLine?.("after");
    await type("[server] after", "");
    const text = shown();
    expect(text.indexOf("[server] before")).toBeLessThan(text.indexOf("  a: "));
    expect(text.indexOf("[server] meanwhile 5")).toBeGreaterThan(text.indexOf("Send?"));
    // Of more lines than a terminal keeps, the last.
    expect(text).not.toContain("[server] meanwhile 4\n");
    expect(text).not.toContain("progress");
  });

  it("interrupts with Ctrl-C", async () => {
    const controller = new AbortController();
    const { answering, type, interrupted } = await terminal();
    const answer = ask(answering, form, controller.signal);
    await type("  a: ", "\x03");
    await eventually(() => (interrupted.length > 0 ? true : undefined));
    controller.abort();
    await expect(answer).rejects.toThrow("aborted");
  });

  it("finds the last answer where the server asks again", async () => {
    const { answering, type } = await terminal();
    const first = ask(answering, form);
    await type("  a: ", "x\r");
    await type("Send?", "\r");
    expect(await first).toMatchObject({ content: { a: "x" } });
    const again = ask(answering, form);
    await type("  a [x]: ", "y\r");
    await type("Send?", "\r");
    expect(await again).toMatchObject({ content: { a: "y" } });
  });
});

describe("nobody", () => {
  it.each([["--args", "-"], ["--decline"]])("is asked with %s %s", async (...words) => {
    const { answering, shown } = await terminal(...words);
    const answer = Promise.resolve(ask(answering, form));
    if (words[0] === "--decline") expect(await answer).toStrictEqual({ action: "decline" });
    else await expect(answer).rejects.toMatchObject({ name: "InputNeeded" });
    expect(shown()).toBe("");
  });

  it.each([
    [true, false],
    [false, true],
  ])("is asked where only one of stdin (%s) and stderr (%s) is a terminal", async (...ones) => {
    const { answering, shown } = await terminals(...ones);
    await expect(Promise.resolve(ask(answering, form))).rejects.toMatchObject({ name: "InputNeeded" });
    expect(shown()).toBe("");
  });

  it("is asked with --no-ask, because nothing is declared", async () => {
    const { answering } = await terminal("--no-ask");
    expect(answering.handlers).toStrictEqual({});
    expect(answering.unused()).toStrictEqual([]);
  });
});
