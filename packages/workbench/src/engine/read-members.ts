/** Objects out of pairs: members by their names and paths, what is unknown and what is missing. */
import type { Pair } from "./argument-pairs.js";
import { suggestion } from "./closest.js";
import { firstLine } from "./first-line.js";
import { isObject, readJson, shown } from "./json.js";
import { type Reading, readTexts } from "./read-value.js";
import { alternatives, namedTypes, type Schema, UnfollowedReference } from "./schema-alternatives.js";
import { misfit } from "./schema-fit.js";
import { expectation, typesToRead } from "./schema-words.js";
import type { UsageProblem } from "./usage-error.js";

/**
 * Reads all pairs by the schema of an object.
 *
 * @param checkMissing False where the rest of the object comes from elsewhere.
 */
export function readRoot(pairs: readonly Pair[], schema: Schema, checkMissing: boolean): Reading {
  try {
    const options = alternatives(schema, schema).filter(takesMembers);
    return readObjects(pairs, options, schema, schema, "", checkMissing);
  } catch (error) {
    if (!(error instanceof UnfollowedReference)) throw error;
    return { problems: [{ path: "", message: `${error.message}; give the arguments with --args` }] };
  }
}

/** An `inputSchema` without a type is one of an object all the same (server/tools, Tool). */
function takesMembers(flat: Schema): boolean {
  const types = namedTypes(flat);
  return types.length === 0 || types.includes("object");
}

/** Reads an object by each alternative in turn; where none fits, the nearest miss says why. */
function readObjects(
  pairs: readonly Pair[],
  options: readonly Schema[],
  schema: unknown,
  root: Schema,
  path: string,
  checkMissing: boolean,
): Reading {
  let nearest: readonly UsageProblem[] | undefined;
  for (const option of options) {
    let reading = readObject(pairs, option, root, path, checkMissing);
    // What was given as it is, or in part, is not held against the schema.
    if (reading.problems === undefined && checkMissing && !pairs.some(({ raw }) => raw)) {
      const found = misfit(reading.value, schema, root);
      if (found)
        reading = { problems: [{ path: (path + found.path).replace(/^\./, ""), message: found.message }] };
    }
    if (reading.problems === undefined) return reading;
    if (nearest === undefined || reading.problems.length < nearest.length) nearest = reading.problems;
  }
  return { problems: nearest ?? [{ path, message: "takes no members, by its schema" }] };
}

function readObject(
  pairs: readonly Pair[],
  flat: Schema,
  root: Schema,
  path: string,
  checkMissing: boolean,
): Reading {
  const properties = isObject(flat["properties"]) ? flat["properties"] : {};
  const value = new Map<string, unknown>();
  const problems: UsageProblem[] = [];
  const groups = groupByMember(pairs, Object.keys(properties));
  for (const [name, group] of groups) {
    const at = path ? `${path}.${name}` : name;
    const schema = Object.hasOwn(properties, name) ? properties[name] : additional(flat, properties);
    const reading =
      schema === undefined && !group.every(({ raw }) => raw)
        ? { problems: [{ path: at, message: unknownName(name, Object.keys(properties)) }] }
        : readMember(group, schema, root, at);
    if (reading.problems === undefined) value.set(name, reading.value);
    else problems.push(...reading.problems);
  }
  if (checkMissing) problems.push(...missing(flat, properties, groups, root, path));
  // Not assigned one by one: an argument may be called "__proto__".
  return problems.length > 0 ? { problems } : { value: Object.fromEntries(value) };
}

/** The pairs of each member, each with what its name says below that member. */
function groupByMember(pairs: readonly Pair[], known: readonly string[]): Map<string, Pair[]> {
  const groups = new Map<string, Pair[]>();
  for (const pair of pairs) {
    const above = known.filter((name) => pair.name.startsWith(`${name}.`));
    // A property's own name may hold dots: the longest that fits is meant.
    const member = known.includes(pair.name)
      ? pair.name
      : (above.sort((a, b) => b.length - a.length)[0] ?? pair.name);
    const group = groups.get(member) ?? [];
    group.push({ ...pair, name: pair.name.slice(member.length + 1) });
    groups.set(member, group);
  }
  return groups;
}

/** The schema of members that are not listed; undefined where they are taken for slips of the keyboard. */
function additional(flat: Schema, properties: Schema): unknown {
  const { additionalProperties, patternProperties } = flat;
  if (isObject(patternProperties)) return { anyOf: Object.values(patternProperties) };
  if (additionalProperties === false) return undefined;
  if (additionalProperties !== undefined) return additionalProperties;
  return Object.keys(properties).length === 0 ? true : undefined;
}

function readMember(group: readonly Pair[], schema: unknown, root: Schema, path: string): Reading {
  const whole = group.filter(({ name }) => name === "");
  const [first] = whole;
  if (whole.length < group.length) {
    if (first !== undefined) return wrong(path, "given both whole and member by member");
    return readMembers(group, schema, root, path);
  }
  if (!whole.some(({ raw }) => raw)) {
    const texts = whole.map(({ text }) => text);
    return readTexts(texts, schema, root, path);
  }
  if (whole.length > 1)
    return wrong(path, `given ${whole.length} times; ${path}:=json takes all of it at once`);
  const text = (first as Pair).text;
  return readJson(text) ?? wrong(path, `expected JSON after ":=", got ${shown(text)}`);
}

function readMembers(group: readonly Pair[], schema: unknown, root: Schema, path: string): Reading {
  try {
    const options = alternatives(schema, root).filter((flat) => typesToRead(flat).includes("object"));
    if (options.length > 0) return readObjects(group, options, schema, root, path, true);
    const names = group.map(({ name }) => name).join(", ");
    return wrong(path, `expected ${expectation(schema, root)}, which has no member ${names}`);
  } catch (error) {
    if (!(error instanceof UnfollowedReference)) throw error;
    return wrong(path, `${error.message}; write ${path}:=json for a value as it is`);
  }
}

function missing(
  flat: Schema,
  properties: Schema,
  given: ReadonlyMap<string, unknown>,
  root: Schema,
  path: string,
): UsageProblem[] {
  const required = Array.isArray(flat["required"]) ? flat["required"] : [];
  return required
    .filter((name): name is string => typeof name === "string" && !given.has(name))
    .map((name) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : true;
      const description = isObject(schema) ? schema["description"] : undefined;
      const about =
        typeof description === "string" && description.trim() ? ` (${firstLine(description)})` : "";
      return {
        path: path ? `${path}.${name}` : name,
        message: `missing; expected ${expectation(schema, root)}${about}`,
      };
    });
}

function unknownName(name: string, known: readonly string[]): string {
  if (known.length === 0) return "unknown; there are no arguments to give here";
  return `unknown; expected one of ${known.join(", ")}${suggestion(name, known)}`;
}

function wrong(path: string, message: string): Reading {
  return { problems: [{ path, message }] };
}
