/** From a JSON Schema to functions that check values: every keyword is read once, and no code is generated. */
import type { JsonSchema } from "../protocol/features.js";
import { isObject } from "../protocol/jsonrpc.js";
import { APPLICATORS, type Compile } from "./applicators.js";
import { ASSERTIONS } from "./assertions.js";
import type { Dialect } from "./dialect.js";
import { type Check, Seen } from "./evaluation.js";
import {
  checkUnseenItems,
  checkUnseenNames,
  compileContains,
  compileItems,
  compileProperties,
  compilePropertyNames,
} from "./members.js";
import { type References, readReferences } from "./references.js";

const ALWAYS: Check = () => true;
const NEVER: Check = (_, run) => run.fail("is not allowed");

/** @throws TypeError where a reference leads nowhere, SyntaxError where a pattern is no regular expression. */
export function compileSchema(root: JsonSchema, dialect: Dialect): Check {
  const references = readReferences(root, dialect);
  const context: Context = { dialect, references, byUri: new Map() };
  return compileTarget(root, "", context);
}

interface Context {
  readonly dialect: Dialect;
  readonly references: References;
  /** Targets of references, by what they are: a schema may refer to itself. */
  readonly byUri: Map<string, Check>;
}

function compileTarget(target: unknown, uri: string, context: Context): Check {
  const known = context.byUri.get(uri);
  if (known !== undefined) return known;
  let check: Check = NEVER;
  const forward: Check = (value, run, seen) => check(value, run, seen);
  context.byUri.set(uri, forward);
  check = compileNode(target, context);
  return forward;
}

function compileNode(node: unknown, context: Context): Check {
  if (node === true) return ALWAYS;
  if (!isObject(node)) return NEVER;
  const check = inScope(combine(compileKeywords(node, context)), node, context);
  const { unevaluatedProperties, unevaluatedItems } = node;
  if (isBefore2019(context.dialect) || (unevaluatedProperties ?? unevaluatedItems) === undefined)
    return check;
  const names = unevaluatedProperties === undefined ? undefined : compileNode(unevaluatedProperties, context);
  const items = unevaluatedItems === undefined ? undefined : compileNode(unevaluatedItems, context);
  return (value, run, outer) => {
    const seen = new Seen();
    let fits = check(value, run, seen);
    if (!fits && run.isDecided) return false;
    if (names !== undefined && !checkUnseenNames(names, value, run, seen)) fits = false;
    if (items !== undefined && !checkUnseenItems(items, value, run, seen)) fits = false;
    outer?.add(seen);
    return fits;
  };
}

function compileKeywords(node: JsonSchema, context: Context): Check[] {
  const { dialect } = context;
  const compile: Compile = (subschema) => compileNode(subschema, context);
  const checks: (Check | undefined)[] = compileReferences(node, context);
  // Before 2019-09 nothing beside a $ref counts.
  if (isBefore2019(dialect) && node["$ref"] !== undefined)
    return checks.filter((check) => check !== undefined);
  for (const [keyword, value] of Object.entries(node)) {
    checks.push(ASSERTIONS.get(keyword)?.(value as never, node, dialect));
    checks.push(APPLICATORS.get(keyword)?.(value as never, node, compile));
  }
  checks.push(compileProperties(node, compile), ...compileArrayKeywords(node, dialect, compile));
  if (node["propertyNames"] !== undefined) checks.push(compilePropertyNames(compile(node["propertyNames"])));
  return checks.filter((check) => check !== undefined);
}

function compileArrayKeywords(node: JsonSchema, dialect: Dialect, compile: Compile): (Check | undefined)[] {
  const { items, prefixItems, additionalItems, contains, minContains, maxContains } = node;
  const isNew = dialect === "2020-12";
  const first = isNew ? prefixItems : Array.isArray(items) ? items : undefined;
  const rest = isNew || first === undefined ? items : additionalItems;
  const checks: (Check | undefined)[] = [];
  if ((first ?? rest) !== undefined) {
    const prefix = ((first as unknown[] | undefined) ?? []).map(compile);
    checks.push(compileItems(prefix, rest === undefined ? undefined : compile(rest)));
  }
  if (contains !== undefined) {
    const counts = !isBefore2019(dialect);
    const least = counts && typeof minContains === "number" ? minContains : 1;
    const most = counts && typeof maxContains === "number" ? maxContains : Number.POSITIVE_INFINITY;
    checks.push(compileContains(compile(contains), least, most, isNew));
  }
  return checks;
}

function compileReferences(node: JsonSchema, context: Context): Check[] {
  const checks: Check[] = [];
  const { $ref, $dynamicRef, $recursiveRef } = node;
  if (typeof $ref === "string") checks.push(follow($ref, node, context));
  if (context.dialect === "2020-12" && typeof $dynamicRef === "string") {
    const name = $dynamicRef.slice($dynamicRef.indexOf("#") + 1);
    checks.push(
      followDynamic($dynamicRef, node, context, (uri) => context.references.dynamicAnchor(uri, name)),
    );
  }
  if (context.dialect === "2019-09" && typeof $recursiveRef === "string") {
    const anchored = (uri: string) => {
      const resource = context.references.resource(uri);
      return resource?.["$recursiveAnchor"] === true ? resource : undefined;
    };
    checks.push(followDynamic($recursiveRef, node, context, anchored));
  }
  return checks;
}

function follow(reference: string, node: JsonSchema, context: Context): Check {
  const target = context.references.resolve(reference, context.references.baseOf(node));
  if (typeof target === "string")
    throw new TypeError(
      `the reference ${JSON.stringify(reference)} leads ${target === "outside" ? "outside of the schema" : "nowhere"}`,
    );
  return compileTarget(target.schema, target.uri, context);
}

/** What was entered first on the way here, of all that declares itself a target (Core, section 8.2.3.2). */
function followDynamic(
  reference: string,
  node: JsonSchema,
  context: Context,
  anchored: (uri: string) => JsonSchema | undefined,
): Check {
  const { references } = context;
  const plain = follow(reference, node, context);
  const target = references.resolve(reference, references.baseOf(node));
  const isAnchored =
    typeof target === "object" &&
    isObject(target.schema) &&
    anchored(references.baseOf(target.schema)) === target.schema;
  if (!isAnchored) return plain;
  const checks = new Map<JsonSchema, Check>();
  return (value, run, seen) => {
    for (const uri of run.scope) {
      const found = anchored(uri);
      if (found === undefined) continue;
      let check = checks.get(found);
      if (check === undefined) {
        check = compileTarget(found, `${uri} ${reference}`, context);
        checks.set(found, check);
      }
      return check(value, run, seen);
    }
    return plain(value, run, seen);
  };
}

/** Notes which resource a schema belongs to while it is applied, where references depend on it. */
function inScope(check: Check, node: JsonSchema, { references }: Context): Check {
  if (!references.hasDynamicScope) return check;
  const base = references.baseOf(node);
  return (value, run, seen) => {
    if (run.scope.at(-1) === base) return check(value, run, seen);
    run.scope.push(base);
    const fits = check(value, run, seen);
    run.scope.pop();
    return fits;
  };
}

function combine(checks: readonly Check[]): Check {
  return (value, run, seen) => {
    run.step();
    let fits = true;
    for (const check of checks) {
      if (check(value, run, seen)) continue;
      fits = false;
      if (run.isDecided) return false;
    }
    return fits;
  };
}

function isBefore2019(dialect: Dialect): boolean {
  return dialect === "4" || dialect === "7";
}
