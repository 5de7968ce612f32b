/** The whole of it: a client that knows nothing but the URL signs a person in at the test issuer, and steps up. */

import { oauth } from "mica-mcp/auth/client";
import { connect } from "mica-mcp/client";
import { afterAll, expect, it } from "vitest";
import { builtFiles, run } from "../../kit/test/process.js";
import { temporaryFiles } from "./folder.js";
import { fieldsOf } from "./form.js";

const file = temporaryFiles();
const built = builtFiles(import.meta.url, "../src/incidents-mcp.ts");
const log = { end: async () => {} };
afterAll(() => log.end());

it("reads, is asked to sign in again to write, and writes", async () => {
  const options = ["--http", "127.0.0.1:0", "--auth", "dev", "--database", file()];
  const running = run(built("incidents-mcp.ts"), options);
  log.end = async () => {
    running.child.kill("SIGTERM");
    expect(await running.finished).toMatchObject({ code: 0 });
  };
  const [, url] = await running.printed(/^Incident log at (http:\S+)$/m);

  const pages: string[][] = [];
  /** A browser, and a person who agrees to whatever is ticked. */
  const redirect = {
    applicationType: "native",
    listen: async () => ({
      uri: "http://127.0.0.1:4567/callback",
      async visit(address: string) {
        const page = await fetch(address);
        expect(page.status).toBe(200);
        const form = fieldsOf(await page.text());
        pages.push(form.getAll("grant"));
        form.set("tenant", "acme");
        form.set("decision", "allow");
        const { origin } = new URL(address);
        const sent = { method: "POST", body: form, redirect: "manual", headers: { origin } } as const;
        return (await fetch(`${origin}/authorize`, sent)).headers.get("location")!;
      },
      close: async () => {},
    }),
  } as const;
  const auth = oauth({ clientName: "test", redirect });
  await using client = await connect({ url: url!, auth }, { name: "test", version: "1.0.0" });
  const said = async (name: string, args: Record<string, unknown>) => {
    const { content } = await client.callTool(name, args);
    return content[0]?.type === "text" ? content[0].text : "";
  };
  expect(await said("search_incidents", {})).toBe('{"incidents":[]}');
  expect(pages).toEqual([["incidents:read"]]);
  expect(await said("open_incident", { title: "Stepped up", severity: "sev2" })).toContain("INC-1");
  expect(pages).toEqual([["incidents:read"], ["incidents:read", "incidents:write"]]);
  expect(await said("search_incidents", { text: "stepped" })).toContain("INC-1");
  expect(pages).toHaveLength(2);
});
