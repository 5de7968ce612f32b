/** URI templates (RFC 6570, all four levels): expansion, and matching with percent-decoding that round-trips. */

/** Values of a template's variables: a list where the template explodes (`*`) or repeats the variable. */
export type TemplateVariables = Record<string, string | string[]>;

export interface UriTemplate {
  /** The template as it was written. */
  readonly template: string;
  /** Names of its variables, in order. */
  readonly variables: readonly string[];
  /** @example parseUriTemplate("file:///{path}").expand({ path: "My File.txt" }) === "file:///My%20File.txt" */
  expand(variables: TemplateVariables): string;
  /** The variables of a URI that the template could have produced, decoded; undefined for any other. */
  match(uri: string): TemplateVariables | undefined;
}

interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  /** What follows a name without a value: `;x` but `?x=`. */
  readonly ifEmpty: string;
  readonly allowReserved: boolean;
}

const OPERATORS: Record<string, Operator> = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", allowReserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", allowReserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", allowReserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", allowReserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", allowReserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", allowReserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", allowReserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", allowReserved: false },
};

interface Variable {
  readonly name: string;
  readonly explode: boolean;
  readonly maxLength: number | undefined;
}

interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

type Part = string | Expression;

/** @throws TypeError naming the place, where the template is not RFC 6570 or could not be matched unambiguously. */
export function parseUriTemplate(template: string): UriTemplate {
  const parts = parse(template);
  const expressions = parts.filter((part): part is Expression => typeof part !== "string");
  return {
    template,
    variables: expressions.flatMap(({ variables }) => variables.map(({ name }) => name)),
    expand: (values) =>
      parts.map((part) => (typeof part === "string" ? part : expandExpression(part, values))).join(""),
    match(uri) {
      const values = Object.create(null) as TemplateVariables;
      let at = 0;
      for (const [index, part] of parts.entries()) {
        const end =
          typeof part === "string" ? literalEnd(uri, at, part) : expressionEnd(uri, at, parts, index);
        if (end < 0 || (typeof part !== "string" && !readExpression(part, uri.slice(at, end), values)))
          return undefined;
        at = end;
      }
      return at === uri.length ? { ...values } : undefined;
    },
  };
}

function parse(template: string): Part[] {
  const parts: Part[] = [];
  const seen = new Set<string>();
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf("{", at);
    const literal = template.slice(at, open < 0 ? undefined : open);
    if (literal.includes("}")) throw wrong(template, "a } without its {");
    if (literal !== "") parts.push(literal);
    if (open < 0) break;
    const close = template.indexOf("}", open);
    if (close < 0) throw wrong(template, "a { without its }");
    const expression = parseExpression(template, template.slice(open + 1, close), seen);
    const previous = parts.at(-1);
    if (previous !== undefined && typeof previous !== "string" && expression.operator.first === "") {
      throw wrong(
        template,
        "two expressions that nothing separates, so that no URI could be matched for certain",
      );
    }
    parts.push(expression);
    at = close + 1;
  }
  return parts;
}

function parseExpression(template: string, source: string, seen: Set<string>): Expression {
  const symbol = /^[+#./;?&]/.exec(source)?.[0] ?? "";
  const variables = source
    .slice(symbol.length)
    .split(",")
    .map((spec): Variable => {
      const found =
        /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})*)(\*|:([1-9]\d{0,3}))?$/.exec(
          spec,
        );
      if (found === null) throw wrong(template, `the expression {${source}}`);
      const name = found[1]!;
      if (seen.has(name)) throw wrong(template, `the variable ${name} twice`);
      seen.add(name);
      return {
        name,
        explode: found[2] === "*",
        maxLength: found[3] === undefined ? undefined : Number(found[3]),
      };
    });
  return { operator: OPERATORS[symbol]!, variables };
}

function wrong(template: string, what: string): TypeError {
  return new TypeError(`URI template ${JSON.stringify(template)} has ${what}`);
}

function expandExpression({ operator, variables }: Expression, values: TemplateVariables): string {
  const pieces: string[] = [];
  for (const { name, explode, maxLength } of variables) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const encode = (text: string) =>
      encodeValue(
        maxLength === undefined ? text : [...text].slice(0, maxLength).join(""),
        operator.allowReserved,
      );
    const label = (text: string) => (text === "" ? `${name}${operator.ifEmpty}` : `${name}=${text}`);
    if (Array.isArray(value) && explode) {
      for (const item of value) pieces.push(operator.named ? label(encode(item)) : encode(item));
    } else {
      const text = Array.isArray(value) ? value.map(encode).join(",") : encode(value);
      pieces.push(operator.named ? label(text) : text);
    }
  }
  return pieces.length ? operator.first + pieces.join(operator.separator) : "";
}

/** RFC 6570, section 3.2.1: unreserved characters pass, reserved ones only where the operator says so. */
function encodeValue(text: string, allowReserved: boolean): string {
  const percent = (piece: string) =>
    encodeURIComponent(piece).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  if (!allowReserved) return percent(text);
  return text.replace(/%[0-9A-Fa-f]{2}|[^:/?#[\]@!$&'()*+,;=]+/g, (piece) =>
    /^%[0-9A-Fa-f]{2}$/.test(piece) ? piece : percent(piece),
  );
}

// Matching goes from left to right and never back, so that its cost grows with the length of the URI alone.

function literalEnd(uri: string, at: number, literal: string): number {
  return uri.startsWith(literal, at) ? at + literal.length : -1;
}

/** Where the text of the expression `parts[index]` ends, or -1 where the URI cannot match. */
function expressionEnd(uri: string, at: number, parts: readonly Part[], index: number): number {
  const { operator } = parts[index] as Expression;
  if (operator.first !== "" && uri[at] !== operator.first) return at;
  const end = nextStart(uri, at + operator.first.length, parts, index + 1);
  return end >= 0 && isAllowed(uri.slice(at + operator.first.length, end), operator) ? end : -1;
}

/** Where the part at `index` begins at the earliest: a last literal stands at the end, another at its first place. */
function nextStart(uri: string, from: number, parts: readonly Part[], index: number): number {
  const next = parts[index];
  if (next === undefined) return uri.length;
  if (typeof next === "string") {
    if (index < parts.length - 1) return uri.indexOf(next, from);
    const end = uri.length - next.length;
    return end >= from && uri.endsWith(next) ? end : -1;
  }
  const marker = uri.indexOf(next.operator.first, from);
  const beyond = nextStart(uri, from, parts, index + 1);
  return marker < 0 ? beyond : beyond < 0 ? marker : Math.min(marker, beyond);
}

/** An expression ends where the part of the URI that it can stand in ends. */
function isAllowed(text: string, { first, allowReserved }: Operator): boolean {
  if (allowReserved) return true;
  if (first === "?" || first === "&") return !text.includes("#");
  return first === "/" ? !/[?#]/.test(text) : !/[/?#]/.test(text);
}

/** Reads the text of one expression into `values`. False where it cannot have come from the expression. */
function readExpression(
  { operator, variables }: Expression,
  text: string,
  values: TemplateVariables,
): boolean {
  if (text === "") {
    if (operator.first === "" && variables.length === 1) values[variables[0]!.name] = "";
    return true;
  }
  const body = text.slice(operator.first.length);
  const single = variables.length === 1 && !variables[0]!.explode && !operator.named;
  const pieces = single ? [body] : body.split(operator.separator);
  return operator.named ? readNamed(variables, pieces, values) : readPositional(variables, pieces, values);
}

function readPositional(
  variables: readonly Variable[],
  pieces: string[],
  values: TemplateVariables,
): boolean {
  for (const [index, { name, explode }] of variables.entries()) {
    const rest =
      explode || index === variables.length - 1 ? pieces.slice(index) : pieces.slice(index, index + 1);
    if (rest.length === 0) return true;
    if (!explode && rest.length > 1) return false;
    const decoded = rest.map(decode);
    if (decoded.includes(undefined)) return false;
    values[name] = explode ? (decoded as string[]) : decoded[0]!;
    if (explode) return index === variables.length - 1;
  }
  return true;
}

/** Query parameters are accepted in any order; one that the template does not name makes another URI. */
function readNamed(variables: readonly Variable[], pieces: string[], values: TemplateVariables): boolean {
  for (const piece of pieces) {
    const equals = piece.indexOf("=");
    const name = equals < 0 ? piece : piece.slice(0, equals);
    const value = decode(equals < 0 ? "" : piece.slice(equals + 1));
    const variable = variables.find((candidate) => candidate.name === name);
    if (variable === undefined || value === undefined) return false;
    if (!variable.explode) {
      if (Object.hasOwn(values, name)) return false;
      values[name] = value;
    } else values[name] = [...((values[name] as string[] | undefined) ?? []), value];
  }
  return true;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
