/** Annotations of tools: booleans, and true of what the tool does (schema, ToolAnnotations). */
import { isObject, shown } from "../../json.js";
import type { Members } from "../audited.js";
import type { Found, Rule } from "../rule.js";

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

export const ANNOTATIONS: readonly Rule[] = [
  {
    id: "annotation-type",
    severity: "error",
    section: "schema, ToolAnnotations",
    title: "Annotations are an object, and the hints in it booleans",
    run: ({ catalogue }) => (catalogue.tools?.entries ?? []).flatMap(types),
  },
  {
    id: "annotation-contradiction",
    severity: "note",
    section: "schema, ToolAnnotations",
    title: "No tool is marked both as read-only and as destructive",
    run: ({ catalogue }) => (catalogue.tools?.entries ?? []).flatMap(contradiction),
  },
  {
    id: "annotation-untrue",
    severity: "warning",
    section: "schema, ToolAnnotations",
    title: "No tool that is named after destruction is marked as read-only",
    run: ({ catalogue }) => (catalogue.tools?.entries ?? []).flatMap(untrue),
  },
];

export function types({ name, annotations }: Members): Found[] {
  if (annotations === undefined) return [];
  const fix = 'Write the hints as true or false, such as "annotations": { "readOnlyHint": true }.';
  if (!isObject(annotations)) {
    const evidence = `"annotations": ${shown(annotations)}`;
    return [{ message: `${String(name)}: the annotations are no object`, evidence, fix }];
  }
  return HINTS.filter((hint) => hint in annotations && typeof annotations[hint] !== "boolean").map(
    (hint) => ({
      message: `${String(name)}: ${hint} must be true or false`,
      evidence: `"${hint}": ${shown(annotations[hint])}`,
      fix,
    }),
  );
}

export function contradiction({ name, annotations }: Members): Found[] {
  if (!isObject(annotations)) return [];
  const { readOnlyHint, destructiveHint } = annotations;
  if (readOnlyHint !== true || destructiveHint !== true) return [];
  return [
    {
      message: `${String(name)} is marked as read-only and as destructive`,
      evidence: `"annotations": ${shown(annotations, 200)}`,
      fix: "Decide which it is: a host that reads only one of the hints runs it without asking.",
    },
  ];
}

export function untrue({ name, annotations }: Members): Found[] {
  if (!isObject(annotations) || annotations["readOnlyHint"] !== true || typeof name !== "string") return [];
  const verb = destructiveVerb(name);
  if (verb === undefined) return [];
  return [
    {
      message: `${name} is marked as read-only, and its name says that it ${SAYS.get(verb) ?? `can ${verb}`}`,
      evidence: `"name": ${JSON.stringify(name)}, "annotations": ${shown(annotations, 200)}`,
      fix: "Set readOnlyHint to false, or name the tool after what it does.",
    },
  ];
}

const SAYS = new Map(
  Object.entries({
    delete: "deletes",
    remove: "removes",
    destroy: "destroys",
    drop: "drops",
    erase: "erases",
    purge: "purges",
    wipe: "wipes",
    truncate: "truncates",
    terminate: "terminates",
    uninstall: "uninstalls",
    overwrite: "overwrites",
    revoke: "revokes",
  }),
);

/** The verb that a name, or the part after its namespace, begins with, where it takes something away. */
export function destructiveVerb(name: string): string | undefined {
  const parts = name.split(/[./:]|__/);
  const verbs = parts.map((part) => /^[A-Z]?[a-z]+|^[A-Z]+/.exec(part)?.[0].toLowerCase());
  return verbs.find((verb) => verb !== undefined && SAYS.has(verb));
}
