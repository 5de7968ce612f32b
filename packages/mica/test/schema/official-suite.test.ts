/** The official JSON-Schema-Test-Suite, for every dialect that is validated. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../src/protocol/features.js";
import { checkJsonSchema } from "../../src/schema/check.js";
import { FORMATS } from "../../src/schema/formats.js";
import { compileJsonSchema } from "../../src/schema/json-schema.js";

interface Group {
  readonly description: string;
  readonly schema: JsonSchema | boolean;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const DRAFTS = [
  ["draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1246],
  ["draft2019-09", "https://json-schema.org/draft/2019-09/schema", 1219],
  ["draft7", "http://json-schema.org/draft-07/schema#", 900],
  ["draft6", "http://json-schema.org/draft-06/schema#", 812],
  ["draft4", "http://json-schema.org/draft-04/schema#", 597],
] as const;

/** Files that are about fetching other schemas, which must not happen, and about dialects of one's own. */
const ELSEWHERE = /leaves the document|unsupported JSON Schema dialect/;

describe.each(DRAFTS)("%s", (draft, dialect, expectedTests) => {
  const file = new URL(`../fixtures/json-schema-test-suite/${draft}.json`, import.meta.url);
  const suite = JSON.parse(readFileSync(file, "utf8")) as Record<string, Group[]>;
  let ran = 0;

  it.each(Object.keys(suite))("%s", (keyword) => {
    for (const { description, schema, tests } of suite[keyword]!) {
      const declared = typeof schema === "boolean" ? schema : { $schema: dialect, ...schema };
      if (typeof declared !== "boolean") {
        try {
          checkJsonSchema(declared, "schema");
        } catch (error) {
          expect({ description, error: String(error) }).toEqual({
            description,
            error: expect.stringMatching(ELSEWHERE) as string,
          });
          continue;
        }
      }
      const before = JSON.stringify(declared);
      const validate = compileJsonSchema(declared);
      for (const { description: what, data, valid } of tests) {
        // Known formats are asserted here, which the newer drafts leave to the application.
        const isAsserted =
          what.endsWith("is only an annotation by default") &&
          FORMATS.has((schema as { format: string }).format);
        expect({ description, what, valid: validate(data).length === 0 }).toEqual({
          description,
          what,
          valid: isAsserted ? false : valid,
        });
        ran++;
      }
      expect(JSON.stringify(declared)).toBe(before);
    }
  });

  it("was run", () => {
    expect(ran).toBe(expectedTests);
  });
});
