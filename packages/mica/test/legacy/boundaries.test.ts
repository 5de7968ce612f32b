/** Earlier revisions stay at the edge: who names them, and who loads what serves them. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { VERSIONS } from "./legacy-schema.js";

const source = new URL("../../src/", import.meta.url);

function filesOf(folder: string): { name: string; text: string }[] {
  return readdirSync(new URL(`${folder}/`, source), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({
      name: `${folder}/${name}`,
      text: readFileSync(new URL(`${folder}/${name}`, source), "utf8"),
    }));
}

describe.each(["server", "client", "protocol", "schema"])("%s/", (folder) => {
  it("names no revision but the current one", () => {
    for (const { name, text } of filesOf(folder)) {
      expect([name, ...VERSIONS.filter((version) => text.includes(version))]).toEqual([name]);
    }
  });

  it("imports nothing of what serves the others", () => {
    for (const { name, text } of filesOf(folder)) {
      expect([name, /(?:from|import\() ?"[^"]*\/legacy/.test(text)]).toEqual([name, false]);
    }
  });
});

it("legacy/ tells revisions apart in one table only", () => {
  for (const { name, text } of filesOf("legacy")) {
    if (name === "legacy/versions.ts" || name.startsWith("legacy/client/")) continue;
    // Comments cite a revision with its page: what is left must not name one.
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    expect([name, ...code.matchAll(/["'`]20\d\d-\d\d-\d\d["'`]/g)]).toEqual([name]);
  }
});

it.each(["stdio", "http"])("%s/ loads it with the first such client only", (folder) => {
  for (const { name, text } of filesOf(folder)) {
    for (const [statement] of text.matchAll(/^(?:import|export)\b[^;]*?from "\.\.\/legacy\/[^"]*";/gm)) {
      expect([name, statement.startsWith("import type ")]).toEqual([name, true]);
    }
  }
});
