/** A fresh process for every message: what one process asks, the next one answers and a third one reads. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InputRequiredResult, JSONRPCRequest, JSONRPCResponse } from "mica-mcp";
import { connect } from "mica-mcp/client";
import { type FreshProcessTransport, freshProcessPerMessage } from "mica-mcp/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { builtFiles } from "../../kit/test/process.js";
import { type CalendarEvent, openStore } from "../src/store.js";

const built = builtFiles(import.meta.url, "../src/calendar-mcp.ts");
let folder: string;
let database: string;
let transport: FreshProcessTransport;
const transports: FreshProcessTransport[] = [];

// Every message costs the start of a process.
vi.setConfig({ testTimeout: 60_000 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "calendar-"));
  database = join(folder, "calendar.sqlite");
  const store = openStore(database);
  store.insert({ title: "Standup", startsAt: "2026-09-07T09:00:00Z" });
  store.insert({ title: "Design review", startsAt: "2026-09-09T15:00:00Z" });
  store.close();
  transport = on(database);
});
afterEach(async () => {
  await Promise.all(transports.map((each) => each.close()));
  expect(transports.splice(0).every(({ running }) => running === 0)).toBe(true);
  rmSync(folder, { recursive: true, force: true });
});

/** Stops the clock of a process. */
const AT = ["--import", `data:text/javascript,Date.now=()=>${Date.parse("2026-09-07T10:00:00Z")}`];
const argsFor = (file: string) => [...AT, built("calendar-mcp.ts"), "--database", file];

function on(file: string, env: Record<string, string> = {}): FreshProcessTransport {
  const made = freshProcessPerMessage({ command: process.execPath, args: argsFor(file), env });
  transports.push(made);
  return made;
}

let nextId = 1;
function request(method: string, params: Record<string, unknown>): JSONRPCRequest {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  return { jsonrpc: "2.0", id: nextId++, method, params: { _meta, ...params } };
}

const createDentist = (more: Record<string, unknown> = {}) =>
  request("tools/call", { name: "create_event", arguments: { title: "Dentist" }, ...more });

const answerWith = (startsAt: string, requestState: string | undefined) =>
  createDentist({ inputResponses: { when: { action: "accept", content: { startsAt } } }, requestState });

function resultOf(response: JSONRPCResponse): Record<string, unknown> {
  if (!("result" in response)) throw new Error(JSON.stringify(response.error));
  return response.result;
}

async function ask(through = transport): Promise<string> {
  const asked = resultOf(await through.exchange(createDentist())) as unknown as InputRequiredResult;
  expect(asked.resultType).toBe("input_required");
  return asked.requestState as string;
}

async function thisWeek(): Promise<CalendarEvent[]> {
  const read = resultOf(await transport.exchange(request("resources/read", { uri: "calendar://week" })));
  return JSON.parse((read["contents"] as [{ text: string }])[0].text) as CalendarEvent[];
}

const CREATED = {
  resultType: "complete",
  content: [{ type: "text", text: "Created e3: Dentist at 2026-09-10T08:30:00Z" }],
  structuredContent: { id: "e3", title: "Dentist", startsAt: "2026-09-10T08:30:00Z" },
};

describe("three messages, three processes", () => {
  it("A asks, B completes, C reads three events where there were two", async () => {
    expect(await thisWeek()).toHaveLength(2);
    const before = transport.processes;
    const asked = resultOf(await transport.exchange(createDentist()));
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        when: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: 'When should "Dentist" start?',
            requestedSchema: {
              type: "object",
              properties: { startsAt: { type: "string", format: "date-time" } },
              required: ["startsAt"],
            },
          },
        },
      },
    });
    const answer = answerWith("2026-09-10T08:30:00Z", asked["requestState"] as string);
    expect(resultOf(await transport.exchange(answer))).toMatchObject(CREATED);
    expect(await thisWeek()).toEqual([
      { id: "e1", title: "Standup", startsAt: "2026-09-07T09:00:00Z" },
      { id: "e2", title: "Design review", startsAt: "2026-09-09T15:00:00Z" },
      { id: "e3", title: "Dentist", startsAt: "2026-09-10T08:30:00Z" },
    ]);
    expect(transport.processes - before).toBe(3);
  });

  it("are what a client does too", async () => {
    await using client = await connect(
      { transport },
      {
        name: "test",
        version: "1.0.0",
        onElicit: () => ({ action: "accept", content: { startsAt: "2026-09-10T08:30:00Z" } }),
      },
    );
    const week = async () => (await client.readResource("calendar://week")).contents[0] as { text: string };
    expect(JSON.parse((await week()).text)).toHaveLength(2);
    expect(await client.callTool("create_event", { title: "Dentist" })).toMatchObject(CREATED);
    expect(JSON.parse((await week()).text)).toHaveLength(3);
  });

  it("need no key but that of the file, whatever the environment says", async () => {
    const requestState = await ask(on(database, { MICA_STATE_KEY: "e".repeat(32) }));
    const done = await transport.exchange(answerWith("2026-09-10T08:30:00Z", requestState));
    expect(resultOf(done)).toMatchObject(CREATED);
  });
});

describe("the last message", () => {
  it("may arrive twice: one event, the same answer", async () => {
    const requestState = await ask();
    const answers = [];
    for (const _time of [1, 2]) {
      answers.push(resultOf(await transport.exchange(answerWith("2026-09-10T08:30:00Z", requestState))));
    }
    expect(answers[0]).toMatchObject(CREATED);
    expect(answers[1]).toEqual(answers[0]);
    expect(await thisWeek()).toHaveLength(3);
  });

  it("may arrive several times at once: one event, the same answer", async () => {
    const requestState = await ask();
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => transport.exchange(answerWith("2026-09-10T08:30:00Z", requestState))),
    );
    for (const answer of answers) expect(resultOf(answer)).toMatchObject(CREATED);
    expect(await thisWeek()).toHaveLength(3);
  });

  it("may not arrive again with another answer: the first one stands", async () => {
    const requestState = await ask();
    await transport.exchange(answerWith("2026-09-10T08:30:00Z", requestState));
    expect(
      resultOf(await transport.exchange(answerWith("2026-09-11T08:30:00Z", requestState))),
    ).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("has created e3 at 2026-09-10T08:30:00Z already") }],
    });
    expect(await thisWeek()).toHaveLength(3);
  });

  it("may be cut off by a crash between the event and the answer, and sent again: one event", async () => {
    const requestState = await ask();
    const answer = answerWith("2026-09-10T08:30:00Z", requestState);
    const dieAtAnswer = "data:text/javascript,process.stdout.write=()=>process.kill(process.pid,'SIGKILL')";
    const crashing = freshProcessPerMessage({
      command: process.execPath,
      args: ["--import", dieAtAnswer, ...argsFor(database)],
    });
    transports.push(crashing);
    await expect(crashing.exchange(answer)).rejects.toMatchObject({ code: "connection_lost" });
    expect(await thisWeek()).toHaveLength(3);
    expect(resultOf(await transport.exchange(answer))).toMatchObject(CREATED);
    expect(await thisWeek()).toHaveLength(3);
  });

  it("is refused with the state of another calendar, of another title, or a changed one", async () => {
    const requestState = await ask();
    const elsewhere = on(join(folder, "other.sqlite"));
    const inputResponses = { when: { action: "accept", content: { startsAt: "2026-09-10T08:30:00Z" } } };
    const otherTitle = { name: "create_event", arguments: { title: "Doctor" }, inputResponses, requestState };
    const refusals = await Promise.all([
      elsewhere.exchange(answerWith("2026-09-10T08:30:00Z", requestState)),
      transport.exchange(request("tools/call", otherTitle)),
      transport.exchange(answerWith("2026-09-10T08:30:00Z", `${requestState.slice(0, -4)}AAAA`)),
    ]);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        error: { code: -32602, message: expect.stringMatching(/^Invalid requestState: /) },
      });
    }
    expect(JSON.stringify(refusals[0])).toContain("a key that this server does not have");
    expect(await thisWeek()).toHaveLength(2);
  });
});

describe("several processes at once", () => {
  it("each create an event of their own, on a file that none of them finds there", async () => {
    const file = join(folder, "new", "calendar.sqlite");
    const fresh = on(file);
    const create = (day: number) => {
      const args = { title: `Event ${day}`, startsAt: `2026-09-0${day}T08:30:00Z` };
      return fresh.exchange(request("tools/call", { name: "create_event", arguments: args }));
    };
    const created = await Promise.all([1, 2, 3, 4, 5, 6].map(create));
    const events = created.map((response) => resultOf(response)["structuredContent"] as CalendarEvent);
    expect(events.map(({ id }) => id).sort()).toEqual(["e1", "e2", "e3", "e4", "e5", "e6"]);
    const store = openStore(file);
    expect(store.between("2026-09-01T00:00:00Z", "2026-09-30T00:00:00Z")).toEqual(events);
    store.close();
  });
});
