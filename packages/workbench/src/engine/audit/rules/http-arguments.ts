/** Arguments of tools that are mirrored into headers (transports/streamable-http, Custom Headers from Tool Parameters). */
import { isObject } from "../../json.js";
import type { Audited, Members, Request } from "../audited.js";
import { Inapplicable, type Rule } from "../rule.js";
import { mismatch } from "./http-headers.js";
import { sampleArguments } from "./sample-values.js";

export const HTTP_ARGUMENTS: readonly Rule[] = [
  {
    id: "http-param-header",
    severity: "error",
    section: "transports/streamable-http, Server Behavior for Custom Headers",
    title: "An argument that is mirrored is required as a header, and must be equal to it",
    applies: "http",
    era: "modern",
    async run(audited) {
      const { request, header } = mirroredRequest(audited);
      return [
        ...(await mismatch(audited, header, undefined, `A ${request.method} without ${header}`, { request })),
        ...(await mismatch(audited, header, "0-mica-audit", `${header} other than the argument`, {
          request,
        })),
      ];
    },
  },
];

/** A call of a tool with a mirrored argument that may be called, with a value for each that is required. */
function mirroredRequest(audited: Audited): { request: Request; header: string } {
  for (const { name, inputSchema } of audited.catalogue.tools?.entries ?? []) {
    if (typeof name !== "string" || !audited.mayCall(name) || !isObject(inputSchema)) continue;
    const properties = isObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
    const mirrored = Object.entries(properties).find(
      ([, one]) => isObject(one) && typeof one["x-mcp-header"] === "string" && one["x-mcp-header"] !== "",
    );
    if (mirrored === undefined) continue;
    const [argument, property] = mirrored as [string, Members];
    const required = Array.isArray(inputSchema["required"]) ? inputSchema["required"] : [];
    const args = sampleArguments({ ...inputSchema, required: [...new Set([...required, argument])] });
    if (args === undefined) continue;
    const request = audited.message("tools/call", { name, arguments: args });
    return { request, header: `Mcp-Param-${String(property["x-mcp-header"])}` };
  }
  throw new Inapplicable("no tool that may be called has a mirrored argument");
}
