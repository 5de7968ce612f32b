/** `mica call` where a tool is answered with a task (SEP-2663), over both transports. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { makeServer } from "../fixtures/tasks-server.js";
import { type RunOptions, runOnTerminal, runProgram, SCRIPT } from "../run-command.js";

let built: Built;
let script: string;
let http: HttpServer;
let journal: string;
beforeAll(async () => {
  built = await buildCommand();
  script = await bundle("./fixtures/tasks-stdio.ts", join(built.directory, "server"));
  journal = join(built.directory, "journal");
  http = await serveHttp(makeServer(journal), { port: 0 });
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close()]);
});

describe.each([
  ["stdio", () => ({ first: [] as string[], last: ["--", process.execPath, script, journal] })],
  ["HTTP", () => ({ first: [http.url], last: [] as string[] })],
])("over %s", (_, target) => {
  const words = (...given: string[]) => [built.path, "call", ...target().first, ...given, ...target().last];
  const call = (given: readonly string[], options?: RunOptions) =>
    runProgram(process.execPath, words(...given), options);

  it("waits for the end, and shows what the tool returned", async () => {
    expect(await call(["work"])).toMatchObject({ code: 0, stdout: "worked\n", stderr: "" });
  });

  it("shows the state and what the server says of it, like progress", async () => {
    const { stdout, stderr } = await call(["work", "--progress"]);
    expect(stdout).toBe("worked\n");
    expect(stderr.split("\n")).toContain("task working: Half of \\x1b[2J it");
    expect(stderr).toMatch(/task completed\n$/);
    expect((await call(["work", "--progress", "--verbose"])).stderr).toMatch(/^task [\w-]{32} working/m);
  });

  it("holds, as JSON, the result that the call would have had", async () => {
    const { code, stdout } = await call(["fail", "--json"]);
    expect(code).toBe(1);
    const { result } = JSON.parse(stdout);
    expect(result).toMatchObject({ isError: true, content: [{ text: "It did not work." }] });
    expect(result).not.toHaveProperty("taskId");
  });

  it("answers what the task asks", async () => {
    expect(await call(["ask", "--answer", "sure.yes=true"])).toMatchObject({ code: 0, stdout: "accept\n" });
    expect(await call(["ask"])).toMatchObject({ code: 6 });
  });

  it("cancels the task on Ctrl-C", async () => {
    writeFileSync(journal, "");
    const { code, stderr } = await call(["wait", "--progress"], {
      onStart: (child) => {
        let said = "";
        child.stderr?.on("data", (chunk: Buffer) => {
          const before = said.includes("Waiting");
          said += String(chunk);
          if (!before && said.includes("Waiting")) child.kill("SIGINT");
        });
      },
    });
    expect(code).toBe(130);
    expect(stderr).toMatch(/mica: interrupted\n$/);
    expect(readFileSync(journal, "utf8")).toBe("The task was cancelled");
  });

  it("is no answer under load: there it is refused", async () => {
    const load = [built.path, "load", ...target().first, "work", "--requests", "1", "--allow-writes", "work"];
    const { code, stdout } = await runProgram(process.execPath, [...load, ...target().last]);
    expect(stdout).not.toContain("answered 1 of 1");
    expect(code).not.toBe(0);
  });

  it("is copied as a test that waits for the task as well", async () => {
    expect((await call(["work", "--copy", "vitest"])).stdout).toContain("tasks: true");
  });

  it.skipIf(SCRIPT === undefined)("is shown on one line of a terminal, which is taken away", async () => {
    const { screen } = await runOnTerminal(process.execPath, words("work", "--no-color"));
    expect(screen).toContain("task working");
    expect(screen.split("\r\x1b[2K").at(-1)).toBe("worked\n");
  });
});
