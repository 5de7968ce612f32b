/** The command against servers written with the SDK, over both transports. */
import { join } from "node:path";
import { type HttpServer, serveHttp } from "mica-mcp/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Built, buildCommand, bundle } from "../build-command.js";
import { makeServer } from "../fixtures/mica-server.js";
import { runProgram } from "../run-command.js";

let built: Built;
let http: HttpServer;
let server: string;
beforeAll(async () => {
  built = await buildCommand();
  server = await bundle("./fixtures/mica-stdio.ts", join(built.directory, "server"));
  http = await serveHttp(makeServer(), { port: 0 });
});
afterAll(async () => {
  await Promise.all([built?.remove(), http?.close()]);
});

describe.each([
  ["stdio", () => ({ first: [] as string[], last: ["--", process.execPath, server] })],
  ["HTTP", () => ({ first: [http.url], last: [] as string[] })],
])("over %s", (_, target) => {
  const mica = (verb: string, ...words: string[]) =>
    runProgram(process.execPath, [built.path, verb, ...target().first, ...words, ...target().last]);

  it("probe", async () => {
    const { code, stdout, stderr } = await mica("probe");
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^garden 0\.3\.0\n/);
    expect(stdout).toContain("3 tools, 0 resources, 1 resource template, 1 prompt\n");
    expect(stdout).toContain("    Water in the evening.\n");
  });

  it("tools", async () => {
    const { code, stdout } = await mica("tools");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "water  Waters a bed.  bed: string, litres?: number, hose?: string, region?: string\n",
    );
  });

  it("call, with progress and an argument that is mirrored into a header", async () => {
    const words = ["bed=roses", "litres=2.5", "region=Süd"];
    const { code, stdout, stderr } = await mica("call", "water", ...words, "--progress");
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "50% half way\n" });
    expect(JSON.parse(stdout)).toStrictEqual({ bed: "roses", litres: 2.5, region: "Süd" });
  });

  it("call, with arguments that the client refuses, and one that only the server does", async () => {
    const refused = await mica("call", "water", "bed=roses", "litres=0.1");
    expect(refused).toMatchObject({ code: 2, stderr: "mica: litres: expected at least 0.5, got 0.1\n" });
    const failed = await mica("call", "water", "bed=roses", "hose=x");
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("hose");
  });

  it("call, of a tool that fails and of one that asks", async () => {
    expect(await mica("call", "dry")).toMatchObject({ code: 1, stdout: "", stderr: "The well is dry.\n" });
    const asked = await mica("call", "ask", "--json", "--no-ask");
    expect(asked.code).toBe(4);
    // No capability is declared, so that a server must not ask (basic, Per-request protocol fields).
    expect(JSON.parse(asked.stdout).error.rpc).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
  });

  it("call, of a tool whose question is answered", async () => {
    expect(await mica("call", "ask", "--answer", "sure.yes=true")).toMatchObject({
      code: 0,
      stdout: "accept\n",
    });
    expect(await mica("call", "ask", "--decline")).toMatchObject({ code: 0, stdout: "decline\n" });
    expect(await mica("call", "ask")).toMatchObject({ code: 6, stdout: "" });
  });

  it("resources and read", async () => {
    expect(await mica("resources")).toMatchObject({
      code: 0,
      stdout: "garden://beds/{bed}  bed  One bed.\n",
    });
    expect(await mica("read", "garden://beds/a%20b")).toMatchObject({ code: 0, stdout: "Bed a b" });
    expect(await mica("read", "garden://nothing")).toMatchObject({ code: 4 });
  });

  it("prompts and prompt", async () => {
    expect(await mica("prompts")).toMatchObject({ code: 0, stdout: "plan  Plan a day.  day\n" });
    expect(await mica("prompt", "plan", "day=Monday")).toMatchObject({
      code: 0,
      stdout: "user:\nPlan Monday.\n",
    });
  });
});
