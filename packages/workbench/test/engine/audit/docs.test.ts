/** The guide names every rule about the catalogue and what it does, as it is. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Rule } from "../../../src/engine/audit/rule.js";
import { ANNOTATIONS } from "../../../src/engine/audit/rules/annotations.js";
import { CAPABILITIES } from "../../../src/engine/audit/rules/capabilities.js";
import { DISCLOSURE } from "../../../src/engine/audit/rules/disclosure.js";
import { HIDDEN_TEXT } from "../../../src/engine/audit/rules/hidden-text.js";
import { MODEL_INSTRUCTIONS } from "../../../src/engine/audit/rules/model-instructions.js";
import { NAMES } from "../../../src/engine/audit/rules/names.js";
import { PAGINATION } from "../../../src/engine/audit/rules/pagination.js";
import { PRIMITIVES } from "../../../src/engine/audit/rules/primitives.js";
import { PROCESS_STATE } from "../../../src/engine/audit/rules/process-state.js";
import { PROMPTS } from "../../../src/engine/audit/rules/prompts.js";
import { REQUEST_STATE } from "../../../src/engine/audit/rules/request-state.js";
import { RESOURCES } from "../../../src/engine/audit/rules/resources.js";
import { SCHEMA_SENSE } from "../../../src/engine/audit/rules/schema-sense.js";
import { SCHEMAS } from "../../../src/engine/audit/rules/schemas.js";
import { TOOL_RESULTS } from "../../../src/engine/audit/rules/tool-results.js";

const GROUPS: readonly (readonly Rule[])[] = [
  CAPABILITIES,
  PAGINATION,
  NAMES,
  SCHEMAS,
  SCHEMA_SENSE,
  ANNOTATIONS,
  HIDDEN_TEXT,
  MODEL_INSTRUCTIONS,
  PRIMITIVES,
  TOOL_RESULTS,
  RESOURCES,
  PROMPTS,
  DISCLOSURE,
  REQUEST_STATE,
  PROCESS_STATE,
];

const cell = (text: string) => text.replaceAll("|", "\\|");
const guide = readFileSync(new URL("../../../../../docs/auditing.md", import.meta.url), "utf8");
const rows = guide
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.replaceAll(/ +\|/g, " |"));

it("docs/auditing.md has a row for every rule", () => {
  expect(rows).toEqual(
    GROUPS.flat().map(
      ({ id, severity, section, title }) => `| \`${id}\` | ${severity} | ${cell(title)} | ${cell(section)} |`,
    ),
  );
});
