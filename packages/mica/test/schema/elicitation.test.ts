/** Forms: what an author's schema becomes (client/elicitation, Requested Schema). */
import { describe, expect, it } from "vitest";
import { toElicitationSchema } from "../../src/schema/elicitation.js";

const formOf = (field: Record<string, unknown>) =>
  toElicitationSchema({ type: "object", properties: { field } }, "elicit").properties["field"];

describe("choices with titles as revision 2025-06-18 had them", () => {
  it("keep them (LegacyTitledEnumSchema)", () => {
    const field = { type: "string", enum: ["a", "b"], enumNames: ["Apple", "Banana"], default: "b" };
    expect(formOf(field)).toEqual(field);
  });

  it("have a title for every option", () => {
    for (const enumNames of [["Apple"], ["Apple", 2], "Apple"]) {
      expect(() => formOf({ type: "string", enum: ["a", "b"], enumNames })).toThrow(
        `field "field": enumNames must hold a string for each of the 2 options, got ${JSON.stringify(enumNames)}`,
      );
    }
  });

  it("are one choice only: a choice of several has no such titles", () => {
    const items = { type: "string", enum: ["a", "b"], enumNames: ["Apple", "Banana"] };
    expect(formOf({ type: "array", items })).toEqual({
      type: "array",
      items: { type: "string", enum: ["a", "b"] },
    });
  });
});
