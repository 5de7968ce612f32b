import { connect } from "mica-mcp/client";
import { describe, expect, it } from "vitest";
import { builtFiles, run } from "../../kit/test/process.js";
import { openSqliteStore } from "../src/sqlite-store.js";
import { temporaryFiles } from "./folder.js";

const file = temporaryFiles();
const built = builtFiles(import.meta.url, "../src/incidents-mcp.ts", "./fixtures/open-many.ts");

describe("processes that share a file", () => {
  it("make it together, and give every incident a number of its own", async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = file();
      const startAt = String(Date.now() + 700);
      const all = await Promise.all(
        Array.from({ length: 4 }, () => run(built("open-many.ts"), [path, "50", startAt]).finished),
      );
      for (const { code, stderr } of all) expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const numbers = all.flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
      const store = openSqliteStore(path);
      expect(await store.of("").countOpen()).toBe(200);
      const { incidents, more } = await store.of("").search({ text: "from", limit: 200 });
      expect({ found: incidents.length, more }).toEqual({ found: 200, more: false });
      await store.close();
    }
  }, 60_000);

  it("tell their subscribers of what another one did, and resolve what another one opened", async () => {
    const path = file();
    const http = run(built("incidents-mcp.ts"), ["--http", "127.0.0.1:0", "--database", path]);
    const [, url] = await http.printed(/^Incident log at (http:\S+)$/m);
    const watching = await connect(url!, { name: "watching", version: "1.0.0" });
    const writing = await connect(
      { command: process.execPath, args: [built("incidents-mcp.ts"), "--database", path] },
      { name: "writing", version: "1.0.0" },
    );
    const subscription = watching.listen({
      resourceSubscriptions: ["incidents://open", "incidents://INC-1"],
    });
    await subscription.acknowledged;

    await writing.callTool("open_incident", { title: "Opened over stdio", severity: "sev2" });
    const uris = [await subscription.next(), await subscription.next()].map(
      ({ value }) => value?.type === "resourceUpdated" && value.uri,
    );
    expect(uris).toEqual(["incidents://INC-1", "incidents://open"]);
    const resolved = await watching.callTool("resolve_incident", { id: "INC-1", cause: "Seen over HTTP" });
    expect(resolved.isError).toBeUndefined();
    const { contents } = await writing.readResource("incidents://INC-1");
    expect(contents).toMatchObject([{ text: expect.stringContaining('"cause":"Seen over HTTP"') }]);

    await subscription.close();
    await writing.close();
    await watching.close();
    http.child.kill("SIGTERM");
    expect(await http.finished).toMatchObject({ code: 0, stderr: "" });
  });
});
