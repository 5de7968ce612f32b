/** THE table of rules: what `mica audit` looks at, in the order in which it looks. */
import type { Rule } from "./rule.js";
import { PARSING } from "./rules/parsing.js";
import { SHUTDOWN } from "./rules/shutdown.js";
import { STDOUT } from "./rules/stdout.js";

export const RULES: readonly Rule[] = [...STDOUT, ...SHUTDOWN, ...PARSING];
