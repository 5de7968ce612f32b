/** What is given for a target: headers of a URL, variables of a command. */
import { optionError } from "./option-text.js";

/** A field name and value that can be sent (RFC 9110, section 5). Values may be secrets and stay out of messages. */
export function readHeaders(given: readonly string[]): Record<string, string> {
  const headers = new Map<string, [name: string, value: string]>();
  for (const header of given) {
    const colon = header.indexOf(":");
    const name = header.slice(0, Math.max(colon, 0)).trim();
    const value = header.slice(colon + 1).trim();
    if (colon < 0 || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
      throw optionError(
        "--header",
        `expected 'Name: value'${name ? `, got the name ${JSON.stringify(name)}` : ""}`,
      );
    }
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw optionError("--header", `the value of ${name} holds characters that cannot stand in a header`);
    }
    if (headers.has(name.toLowerCase())) throw optionError("--header", `${name} is given twice`);
    headers.set(name.toLowerCase(), [name, value]);
  }
  return Object.fromEntries(headers.values());
}

/** Variables to set; a name alone takes its value from `from`. */
export function readVariables(given: readonly string[], from: NodeJS.ProcessEnv): Record<string, string> {
  const variables = new Map<string, string>();
  for (const variable of given) {
    const at = variable.indexOf("=");
    const name = at < 0 ? variable : variable.slice(0, at);
    if (name === "")
      throw optionError("--env", `expected NAME=value or NAME, got ${JSON.stringify(variable)}`);
    const value = at < 0 ? from[name] : variable.slice(at + 1);
    if (value === undefined)
      throw optionError("--env", `${name} has no value here to take over; write ${name}=value`);
    variables.set(name, value);
  }
  return Object.fromEntries(variables);
}
