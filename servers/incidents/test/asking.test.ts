/** What the incident log asks the person: a severity that was left out, and whether a sev1 is really over. */
import { connect } from "mica-mcp/client";
import { memoryTransport } from "mica-mcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createIncidentServer } from "../src/server.js";
import { openSqliteStore } from "../src/sqlite-store.js";
import type { IncidentStore } from "../src/store.js";
import { temporaryFiles } from "./folder.js";

const file = temporaryFiles();
type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | boolean> };

let store: IncidentStore;
let close: () => Promise<void>;
afterEach(async () => {
  await close();
  await store.close();
});

/** A client that gives these answers, or none that can be asked. */
async function start(answers?: Answer[]) {
  const asked: string[] = [];
  store = openSqliteStore(file());
  const client = await connect(
    { transport: memoryTransport(createIncidentServer(store)) },
    {
      name: "test",
      version: "1.0.0",
      ...(answers && {
        onElicit: async ({ message }) => {
          asked.push(message);
          return answers.shift()!;
        },
      }),
    },
  );
  close = () => client.close();
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content, isError = false } = await client.callTool(name, args);
    return { isError, text: (content[0] as { text: string }).text };
  };
  return {
    asked,
    call,
    sev1: () => store.of("").open({ title: "Queue backed up", severity: "sev1", description: undefined }),
  };
}

describe("open_incident without a severity", () => {
  it("asks for it", async () => {
    const { asked, call } = await start([{ action: "accept", content: { severity: "sev3" } }]);
    expect(await call("open_incident", { title: "Queue backed up" })).toMatchObject({ isError: false });
    expect(asked).toEqual(['How severe is "Queue backed up"?']);
    expect(await store.of("").find(1)).toMatchObject({ severity: "sev3" });
  });

  it.each(["decline", "cancel"] as const)("opens nothing on %s", async (action) => {
    const { call } = await start([{ action }]);
    const said = await call("open_incident", { title: "Queue backed up" });
    expect(said).toEqual({ isError: true, text: "No severity was given, so nothing was opened." });
    expect(await store.of("").countOpen()).toBe(0);
  });

  it("tells the model what to give where nobody can be asked", async () => {
    const { call } = await start();
    const said = await call("open_incident", { title: "Queue backed up" });
    expect(said).toEqual({ isError: true, text: "severity: give one of sev1, sev2, sev3, sev4." });
  });
});

describe("resolve_incident of a sev1", () => {
  const args = { id: "INC-1", cause: "A stuck consumer." };

  it("asks to confirm, once", async () => {
    const { asked, call, sev1 } = await start([{ action: "accept", content: { confirm: true } }]);
    await sev1();
    expect(await call("resolve_incident", args)).toMatchObject({ isError: false });
    expect(asked).toEqual(['Resolve INC-1 (sev1), "Queue backed up"?']);
    // Resolved already: there is nothing left to confirm.
    expect(await call("resolve_incident", args)).toMatchObject({ isError: false });
    expect(asked).toHaveLength(1);
  });

  it.each<Answer>([
    { action: "decline" },
    { action: "cancel" },
    { action: "accept", content: { confirm: false } },
  ])("leaves it open on %j", async (answer) => {
    const { call, sev1 } = await start([answer]);
    await sev1();
    const said = await call("resolve_incident", args);
    expect(said).toEqual({ isError: true, text: "INC-1 was not confirmed, so it is still open." });
    expect(await store.of("").find(1)).toMatchObject({ state: "open" });
  });

  it("is refused to a client that has nobody to ask, which is told what it lacks", async () => {
    const { call, sev1 } = await start();
    await sev1();
    await expect(call("resolve_incident", args)).rejects.toMatchObject({
      cause: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
    expect(await store.of("").find(1)).toMatchObject({ state: "open" });
  });
});
