/** What `--help` prints. */
import { EXIT_CODES } from "./exit.js";
import { OPTION_ROWS, type OptionRow } from "./option-rows.js";
import { table } from "./table.js";
import { applies, VERBS, type VerbRow } from "./verbs.js";

export function help(verb: VerbRow | undefined): string {
  return `${(verb === undefined ? general() : ofVerb(verb)).join("\n")}\n`;
}

function general(): string[] {
  return [
    "mica: see and drive any MCP server.",
    "",
    "Usage",
    "  mica VERB URL [OPERANDS] [OPTIONS]",
    "  mica VERB [OPERANDS] [OPTIONS] -- COMMAND [ARGS]",
    "",
    "Verbs",
    ...rows(VERBS.map(({ name, summary }) => [name, summary])),
    "",
    "Options",
    ...options(() => true),
    "",
    "Exit codes",
    ...rows(EXIT_CODES.map(([code, meaning]) => [String(code), meaning])),
    "",
    "mica VERB --help tells more of one verb.",
  ];
}

function ofVerb(verb: VerbRow): string[] {
  const pairs = verb.pairs ? ["[NAME=VALUE ...]"] : [];
  const optional = verb.mayTake === undefined ? [] : [`[${[verb.mayTake, ...pairs].join(" ")}]`];
  const operands = [...verb.takes, ...(verb.mayTake === undefined ? pairs : optional)].join(" ");
  const room = operands && ` ${operands}`;
  return [
    `mica ${verb.name}: ${verb.summary}.`,
    "",
    "Usage",
    ...(verb.local ? [`  mica ${verb.name}${room} [OPTIONS] [-- ARGS]`] : []),
    ...(verb.local || verb.only === "command" ? [] : [`  mica ${verb.name} URL${room} [OPTIONS]`]),
    ...(verb.local || verb.only === "url" ? [] : [`  mica ${verb.name}${room} [OPTIONS] -- COMMAND [ARGS]`]),
    "",
    verb.examples.length > 1 ? "Examples" : "Example",
    ...verb.examples.map((example) => `  ${example}`),
    ...(verb.pairs ? ["", "Arguments", ...rows(PAIRS)] : []),
    "",
    "Options",
    ...options((row) => applies(row, verb)),
    "",
    "Exit codes",
    ...rows(EXIT_CODES.map(([code, meaning]) => [String(code), meaning])),
  ];
}

const PAIRS: readonly (readonly string[])[] = [
  [
    "name=value",
    "text, typed by the schema: numbers and true or false as JSON writes them, null where it is allowed",
  ],
  ["name=a name=b", 'a list; also as JSON: name=\'["a","b"]\''],
  ["name.member=value", "a member of an object; the whole of it as JSON: name='{\"member\":1}'"],
  ["name:=json", "exactly this JSON, whatever the schema says"],
];

function options(isOffered: (row: OptionRow) => boolean): string[] {
  const all: readonly OptionRow[] = OPTION_ROWS;
  return rows(
    all.filter(isOffered).map(({ name, short, value, repeatable, help: what }) => {
      const flag = `${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`;
      return [flag, repeatable ? `${what}; may be repeated` : what];
    }),
  );
}

function rows(cells: readonly (readonly string[])[]): string[] {
  return table([
    { cells: cells.map(([first]) => first as string) },
    { cells: cells.map(([, second]) => second as string) },
  ]).map((line) => `  ${line}`);
}
