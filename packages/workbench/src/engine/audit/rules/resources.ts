/** Resources: URIs that are URIs, templates that are templates, reads that answer (server/resources). */
import { parseUriTemplate } from "mica-mcp";
import { isObject, readJson, shown } from "../../json.js";
import type { Audited, Members } from "../audited.js";
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { errorOf, resultOf, seen } from "../wire/raw.js";
import { contentsProblems, isBase64, uriProblem } from "./content-blocks.js";
import { provokedOf } from "./provoked.js";
import { type Sampled, sampledOf } from "./samples.js";

export const RESOURCES: readonly Rule[] = [
  {
    id: "resource-uri",
    severity: "error",
    section: "server/resources, Custom URI Schemes",
    title: "URIs of resources are URIs",
    run: ({ catalogue }) => (catalogue.resources?.entries ?? []).flatMap(invalidUri),
  },
  {
    id: "resource-template",
    severity: "error",
    section: "server/resources, Resource Templates",
    title: "URI templates are RFC 6570",
    run: ({ catalogue }) => (catalogue.resourceTemplates?.entries ?? []).flatMap(invalidTemplate),
  },
  {
    id: "resource-readable",
    severity: "error",
    section: "server/resources, Capabilities",
    title: "Every resource that is listed can be read",
    run: async (audited) => (await readsOf(audited)).flatMap(unreadable),
  },
  {
    id: "resource-contents",
    severity: "error",
    section: "server/resources, Resource Contents",
    title: "Contents of resources are well-formed",
    run: async (audited) => (await readsOf(audited)).flatMap(malformed),
  },
  {
    id: "resource-base64",
    severity: "error",
    section: "server/resources, Security Considerations",
    title: "Binary contents are Base64",
    run: async (audited) =>
      (await readsOf(audited)).flatMap(({ exchange }) => contentsOf(exchange).flatMap(badBlob)),
  },
  {
    id: "resource-type",
    severity: "warning",
    section: "server/resources, Resource Contents",
    title: "Contents are of the MIME type that they claim",
    run: async (audited) =>
      (await readsOf(audited)).flatMap(({ exchange }) => contentsOf(exchange).flatMap(wrongType)),
  },
  {
    id: "resource-not-found",
    severity: "error",
    section: "server/resources, Error Handling",
    title: "A read of what does not exist is the error of its revision",
    run: notFound,
  },
];

async function readsOf(audited: Audited): Promise<Sampled[]> {
  const reads = (await sampledOf(audited)).filter(({ method }) => method === "resources/read");
  if (reads.length === 0) throw new Inapplicable("no resource is listed");
  return reads;
}

export function invalidUri({ name, uri }: Members): Found[] {
  const problem = typeof uri === "string" ? uriProblem(uri) : `expected a string, got ${shown(uri)}`;
  if (problem === undefined) return [];
  return [
    {
      message: `The resource ${String(name)} has no valid URI: ${problem}`,
      evidence: `"uri": ${shown(uri, 200)}`,
      fix: "Give it a URI with a scheme of its own, such as notes://all, and percent-encode what is no URI character.",
    },
  ];
}

export function invalidTemplate({ name, uriTemplate }: Members): Found[] {
  let problem: string | undefined;
  try {
    if (typeof uriTemplate === "string") parseUriTemplate(uriTemplate);
    else problem = `expected a string, got ${shown(uriTemplate)}`;
  } catch (error) {
    problem = (error as Error).message;
  }
  if (problem === undefined) return [];
  return [
    {
      message: `The resource template ${String(name)} is no URI template: ${problem}`,
      evidence: `"uriTemplate": ${shown(uriTemplate, 200)}`,
      fix: "Write variables as {name}, and percent-encode what is no URI character.",
    },
  ];
}

/** Codes of "resource not found", now and before 2026-07-28. */
const NOT_FOUND: readonly unknown[] = [-32602, -32002];

function unreadable({ what, exchange }: Sampled): Found[] {
  const error = errorOf(exchange);
  if (error === undefined) return [];
  const isGone = NOT_FOUND.includes(error.code);
  return [
    {
      message: `The ${what} is listed and cannot be read`,
      evidence: seen(exchange),
      fix: "List what can be read now, and nothing else.",
      // Something else may be down at the moment.
      ...(!isGone && { severity: "warning" as const }),
    },
  ];
}

function malformed({ what, exchange }: Sampled): Found[] {
  const result = resultOf(exchange);
  if (result === undefined || (result["resultType"] ?? "complete") !== "complete") return [];
  const { contents } = result;
  const problems = Array.isArray(contents)
    ? contents.slice(0, 100).flatMap((one, index) => contentsProblems(one, `contents[${index}]`))
    : [`contents must be an array, got ${shown(contents)}`];
  return problems.slice(0, 5).map((problem) => ({
    message: `The ${what} is read as something malformed: ${problem}`,
    evidence: seen(exchange),
    fix: 'Answer { "contents": [{ "uri", "mimeType", "text" or "blob" }] }.',
  }));
}

function contentsOf(exchange: Sampled["exchange"]): Members[] {
  const contents = resultOf(exchange)?.["contents"];
  return Array.isArray(contents) ? contents.slice(0, 100).filter(isObject) : [];
}

export function badBlob({ uri, blob }: Members): Found[] {
  if (typeof blob !== "string" || isBase64(blob)) return [];
  return [
    {
      message: `The blob of the resource ${String(uri)} is not Base64`,
      evidence: `"blob": ${shown(blob, 200)}`,
      fix: "Encode the bytes as Base64 (RFC 4648, section 4); give text as text.",
    },
  ];
}

/** First bytes that tell a format; what is no such format is not judged. */
const FIRST_BYTES: readonly (readonly [type: string, hex: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^47494638/],
  ["image/webp", /^52494646.{8}57454250/],
  ["application/pdf", /^25504446/],
  ["application/zip", /^504b0[357]0[468]/],
  ["application/gzip", /^1f8b/],
];

export function wrongType({ uri, mimeType, text, blob }: Members): Found[] {
  if (typeof mimeType !== "string") return [];
  const type = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  const problem = typeof text === "string" ? textProblem(type, text) : blobProblem(type, blob);
  if (problem === undefined) return [];
  return [
    {
      message: `The resource ${String(uri)} claims to be ${type} and ${problem}`,
      evidence: `"mimeType": ${shown(mimeType)}, ${typeof text === "string" ? `"text": ${shown(text, 120)}` : `"blob": ${shown(blob, 120)}`}`,
      fix: "Give the type that the contents have.",
    },
  ];
}

function textProblem(type: string, text: string): string | undefined {
  if (type === "application/json" || (type.endsWith("+json") && !type.includes("seq")))
    return readJson(text) === undefined ? "is no JSON" : undefined;
  if (/^(?:image\/(?!svg)|audio\/|video\/|font\/)/.test(type)) return "is given as text";
  return undefined;
}

function blobProblem(type: string, blob: unknown): string | undefined {
  const known = FIRST_BYTES.find(([name]) => name === type);
  if (known === undefined || typeof blob !== "string" || !isBase64(blob)) return undefined;
  const hex = Buffer.from(blob.slice(0, 64), "base64").toString("hex");
  return known[1].test(hex) ? undefined : `begins with the bytes ${hex.slice(0, 16) || "of nothing"}`;
}

async function notFound(audited: Audited): Promise<Found[]> {
  const { catalogue, era } = audited;
  const [read] = (await provokedOf(audited)).filter(({ kind }) => kind === "unknown resource");
  if (read === undefined) throw new Inapplicable("it has no resources");
  const { uri } = read.params;
  if (
    (catalogue.resourceTemplates?.entries ?? []).some(({ uriTemplate }) => matches(uriTemplate, String(uri)))
  )
    throw new Inapplicable("a template of it matches every URI");
  const code = era === "modern" ? -32602 : -32002;
  const error = errorOf(read.exchange);
  if (error?.code === code) return [];
  const evidence = `${read.exchange.sent}\nwas answered with ${seen(read.exchange)}`;
  const fix = `Answer with the error { "code": ${code}, "message": "Resource not found", "data": { "uri" } }.`;
  if (error === undefined) {
    const message = "A read of a resource that does not exist is answered without an error";
    return [{ message, evidence, fix, ...(era === "legacy" && { severity: "warning" as const }) }];
  }
  const message = `A read of a resource that does not exist is error ${String(error.code)}, not ${code}`;
  // "Servers SHOULD return" in the revisions before 2026-07-28.
  return [{ message, evidence, fix, ...(era === "legacy" && { severity: "warning" as const }) }];
}

function matches(template: unknown, uri: string): boolean {
  try {
    return parseUriTemplate(String(template)).match(uri) !== undefined;
  } catch {
    return false;
  }
}
