/** `mica complete` and `mica listen` against a server that completes and changes, over both transports. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Server } from "mica-mcp";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { makeServer } from "../fixtures/changing-server.js";
import { fixture, type RunOptions, runProgram } from "../run-command.js";

let built: Built;
let script: string;
let server: Server;
let http: HttpServer;
beforeAll(async () => {
  built = await buildCommand();
  script = await bundle("./fixtures/changing-stdio.ts", join(built.directory, "server"));
  server = makeServer();
  http = await serveHttp(server, { port: 0 });
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close()]);
});

const mica = (args: readonly string[], options?: RunOptions) =>
  runProgram(process.execPath, [built.path, ...args], options);
const stdio = (...switches: string[]) => ["--", process.execPath, script, ...switches];
/** Does something as soon as the command says that it listens. */
const whenListening = (act: (child: ChildProcess) => void): RunOptions => ({
  onStart: (child) => {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      const before = said.includes("listening for");
      said += String(chunk);
      if (!before && said.includes("listening for")) act(child);
    });
  },
});

describe.each([
  ["stdio", () => ({ first: [] as string[], last: stdio() })],
  ["HTTP", () => ({ first: [http.url], last: [] as string[] })],
  ["stdio, an earlier revision", () => ({ first: ["--era", "legacy"], last: stdio() })],
])("complete over %s", (_, target) => {
  const complete = (...words: string[]) => mica(["complete", ...target().first, ...words, ...target().last]);

  it("completes an argument of a prompt", async () => {
    expect(await complete("prompt:review", "language=p")).toMatchObject({
      code: 0,
      stdout: "python\nperl\nphp\nprolog\n",
      stderr: "",
    });
  });

  it("completes a variable of a template, with what is settled", async () => {
    const words = ["changing://{kind}/{name}", "name=x", "--context", "kind=tree"];
    expect((await complete(...words)).stdout).toBe("tree-x-1\ntree-x-2\n");
  });

  it("says how many there are where not all are given", async () => {
    const { stdout, stderr } = await complete("prompt:review", "language=many");
    expect(stdout.split("\n")).toHaveLength(101);
    expect(stderr).toBe("100 of 250\n");
    const { stdout: json } = await complete("prompt:review", "language=many", "--json");
    expect(JSON.parse(json).result.completion).toMatchObject({ total: 250, hasMore: true });
  });

  it("says that there is nothing", async () => {
    expect(await complete("prompt:review", "language=x")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "No completions.\n",
    });
  });

  it("passes on what the server refuses", async () => {
    const { code, stderr } = await complete("prompt:nothing", "language=x");
    expect(code).toBe(4);
    expect(stderr).toContain("nothing");
  });
});

describe("complete", () => {
  it.each([
    [
      ["review", "language=p"],
      'expected prompt:NAME, or a resource template like notes://{day}, got "review"',
    ],
    [["prompt:review"], "expected the argument to complete"],
    [
      ["prompt:review", "a=1", "b=2"],
      "b: one argument is completed at a time; one that is settled is --context b=...",
    ],
    [["prompt:review", "a=1", "--context", "b"], '--context: expected NAME=VALUE, got "b"'],
  ])("%j is bad usage", async (words, message) => {
    const { code, stderr } = await mica(["complete", ...words, ...fixture()]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe("listen", () => {
  it("shows changes as they come, and ends after so many", async () => {
    const args = ["listen", http.url, "--resource", "changing://note", "--list", "tools", "--count", "2"];
    const change = whenListening(() => {
      server.resourceUpdated("changing://note");
      server.tool(`more-${Math.random()}`, { description: "More." }, () => "more");
    });
    const { code, stdout, stderr } = await mica(args, change);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\d\d:\d\d:\d\d listening for changes of the tools list, changing:\/\/note\n$/);
    expect(
      stdout
        .split("\n")
        .map((line) => line.slice(9))
        .sort(),
    ).toEqual(["", "tools list changed", "updated changing://note"]);
  });

  it("prints a line of JSON for each event, and the document at the end", async () => {
    const args = ["listen", "--resource", "changing://note", "--count", "2", "--json", ...stdio("--tick")];
    const { code, stdout } = await mica(args);
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0].event).toMatchObject({
      type: "listening",
      acknowledged: { resourceSubscriptions: ["changing://note"] },
    });
    expect(lines[1]).toMatchObject({
      mica: 1,
      verb: "listen",
      event: { type: "resourceUpdated", uri: "changing://note" },
    });
    expect(lines.at(-1)).toMatchObject({ verb: "listen", result: { events: 2 }, warnings: [] });
    expect(lines).toHaveLength(4);
  });

  it("ends after so long, and then nothing has gone wrong", async () => {
    const began = performance.now();
    expect(await mica(["listen", "--for", "0.5", ...stdio()])).toMatchObject({ code: 0, stdout: "" });
    expect(performance.now() - began).toBeGreaterThan(500);
  });

  it("ends well by Ctrl-C, and otherwise when it is terminated", async () => {
    const interrupted = await mica(
      ["listen", http.url],
      whenListening((child) => child.kill("SIGINT")),
    );
    expect(interrupted).toMatchObject({ code: 0, stdout: "" });
    const terminated = await mica(
      ["listen", http.url],
      whenListening((child) => child.kill("SIGTERM")),
    );
    expect(terminated.code).toBe(143);
  });

  it("subscribes again where the server goes away and comes back", async () => {
    const first = await serveHttp(makeServer(), { port: 0 });
    const { port } = new URL(first.url);
    const again = makeServer();
    let second: HttpServer | undefined;
    let said = "";
    try {
      const { code, stdout } = await mica(
        ["listen", first.url, "--list", "prompts", "--count", "1", "--timeout", "5"],
        {
          onStart: (child) => {
            let isBack = false;
            child.stderr?.on("data", async (chunk: Buffer) => {
              said += String(chunk);
              const times = said.split("listening for").length - 1;
              if (times === 1 && !isBack) {
                isBack = true;
                await first.close();
                second = await serveHttp(again, { port: Number(port) });
              }
              if (times === 2) again.prompt("new", {}, () => "new");
            });
          },
        },
      );
      expect({ code, stdout: stdout.slice(9) }).toEqual({ code: 0, stdout: "prompts list changed\n" });
      expect(said).toContain("; subscribing again\n");
    } finally {
      await second?.close();
    }
  });

  it("says that a command has ended, and does not start it again", async () => {
    const { code, stderr } = await mica(["listen", ...stdio("--die")]);
    expect(code).toBe(3);
    expect(stderr).toContain("listening for");
    expect(stderr).toMatch(/mica: .*exited with code 7/);
  });

  it("shows log messages and changes of a server of an earlier revision", async () => {
    const earlier = fileURLToPath(new URL("../fixtures/earlier-server.mjs", import.meta.url));
    const args = [
      "listen",
      "--log",
      "warning",
      "--count",
      "2",
      "--list",
      "tools",
      "--",
      process.execPath,
      earlier,
    ];
    const { code, stdout } = await mica(args);
    expect({ code, events: stdout.split("\n").map((line) => line.slice(9)) }).toEqual({
      code: 0,
      events: ["[warning disk] nearly full", "tools list changed", ""],
    });
  });

  it("refuses what it cannot listen for", async () => {
    expect((await mica(["listen", "--list", "tool", ...fixture()])).stderr).toBe(
      'mica: --list: expected tools, prompts, resources, got "tool"\n',
    );
    expect((await mica(["listen", "--count", "0", ...fixture()])).code).toBe(2);
    expect((await mica(["listen", "--for", "-1", ...fixture()])).code).toBe(2);
  });
});

it("questions of an earlier revision are numbered, and what is not answered says so", async () => {
  const call = (answer: string) => mica(["call", "ask", "--era", "legacy", "--answer", answer, ...stdio()]);
  const { code, stderr } = await call("sure.yes=true");
  expect(code).toBe(6);
  expect(stderr).toContain("--answer elicitation-1.yes=...  true or false, required\n");
  expect(stderr).toContain(
    "servers of earlier revisions ask without keys: their questions are numbered as they come\n",
  );
  expect(await call("elicitation-1.yes=true")).toMatchObject({ code: 0, stdout: "accept\n" });
});
