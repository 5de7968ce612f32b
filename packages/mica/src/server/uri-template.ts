/** URI templates (RFC 6570, all four levels): the grammar, and one value that expands and matches. */
import { expandExpression, expandLiteral, type TemplateValues } from "./uri-template-expand.js";
import { findAmbiguity, matchTemplate, type TemplateVariables } from "./uri-template-match.js";

export type { TemplateValues, TemplateVariables };

export interface UriTemplate {
  /** The template as it was written. */
  readonly template: string;
  /** Names of its variables, in order, each once. */
  readonly variables: readonly string[];
  /**
   * The URI for some values; variables without one are left out (RFC 6570, section 3.2).
   *
   * @throws TypeError naming the variable, where a value is not made of strings of whole characters.
   * @example parseUriTemplate("file:///{path}").expand({ path: "My File.txt" }) === "file:///My%20File.txt"
   */
  expand(values: TemplateValues): string;
  /**
   * The variables of a URI that the template could have produced, decoded; undefined for any other.
   *
   * @throws TypeError where {@link ambiguity} says why no URI can be matched for certain.
   */
  match(uri: string): TemplateVariables | undefined;
  /** Why URIs cannot be matched for certain, although the template can be expanded; undefined for most templates. */
  readonly ambiguity: string | undefined;
}

export interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  /** What follows a name without a value: `;x` but `?x=`. */
  readonly ifEmpty: string;
  readonly allowReserved: boolean;
}

/** RFC 6570, appendix A. */
const OPERATORS = new Map<string, Operator>([
  ["", { first: "", separator: ",", named: false, ifEmpty: "", allowReserved: false }],
  ["+", { first: "", separator: ",", named: false, ifEmpty: "", allowReserved: true }],
  ["#", { first: "#", separator: ",", named: false, ifEmpty: "", allowReserved: true }],
  [".", { first: ".", separator: ".", named: false, ifEmpty: "", allowReserved: false }],
  ["/", { first: "/", separator: "/", named: false, ifEmpty: "", allowReserved: false }],
  [";", { first: ";", separator: ";", named: true, ifEmpty: "", allowReserved: false }],
  ["?", { first: "?", separator: "&", named: true, ifEmpty: "=", allowReserved: false }],
  ["&", { first: "&", separator: "&", named: true, ifEmpty: "=", allowReserved: false }],
]);

export interface Variable {
  readonly name: string;
  readonly explode: boolean;
  readonly maxLength: number | undefined;
}

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** A literal, as it stands in URIs, or an expression. */
export type Part = string | Expression;

/**
 * Reads a template.
 *
 * @throws TypeError naming the place, where it is not RFC 6570.
 * @example parseUriTemplate("calendar://{year}/{month}").match("calendar://2026/07") // { year: "2026", month: "07" }
 */
export function parseUriTemplate(template: string): UriTemplate {
  const parts = parse(template);
  const ambiguity = findAmbiguity(parts);
  const names = parts.flatMap((part) =>
    typeof part === "string" ? [] : part.variables.map(({ name }) => name),
  );
  return {
    template,
    variables: [...new Set(names)],
    expand: (values) =>
      parts.map((part) => (typeof part === "string" ? part : expandExpression(part, values))).join(""),
    match(uri) {
      if (ambiguity !== undefined) throw wrong(template, ambiguity);
      return matchTemplate(parts, uri);
    },
    ambiguity,
  };
}

function parse(template: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf("{", at);
    const literal = template.slice(at, open < 0 ? undefined : open);
    if (literal.includes("}")) throw wrong(template, "a } without its {");
    if (literal !== "") parts.push(parseLiteral(template, literal));
    if (open < 0) break;
    const close = template.indexOf("}", open);
    if (close < 0) throw wrong(template, "a { without its }");
    parts.push(parseExpression(template, template.slice(open + 1, close)));
    at = close + 1;
  }
  return parts;
}

/** RFC 6570, section 2.1, and the apostrophe, which URIs may hold (RFC 3986, section 2.2). */
function parseLiteral(template: string, literal: string): string {
  const stray = /[\0- "<>\\^`|\x7f]|%(?![0-9A-Fa-f]{2})/.exec(literal);
  if (stray !== null)
    throw wrong(template, `the character ${JSON.stringify(stray[0])}, which no URI can hold as it is`);
  if (!literal.isWellFormed()) throw wrong(template, "half a surrogate pair");
  return expandLiteral(literal);
}

const VARIABLE =
  /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(\*|:([1-9]\d{0,3}))?$/;

/** RFC 6570, sections 2.2 to 2.4. */
function parseExpression(template: string, source: string): Expression {
  const symbol = /^[+#./;?&]/.exec(source)?.[0] ?? "";
  const variables = source
    .slice(symbol.length)
    .split(",")
    .map((spec): Variable => {
      const found = VARIABLE.exec(spec);
      if (found === null) throw wrong(template, `the expression {${source}}`);
      return {
        name: found[1]!,
        explode: found[2] === "*",
        maxLength: found[3] === undefined ? undefined : Number(found[3]),
      };
    });
  return { operator: OPERATORS.get(symbol)!, variables };
}

function wrong(template: string, what: string): TypeError {
  return new TypeError(`URI template ${JSON.stringify(template)} has ${what}`);
}
