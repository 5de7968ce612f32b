/** The page of an authorization server: opened where that can be done, shown in any case. */
import type { LoopbackOptions } from "mica-mcp/auth/client";
import { openUrl } from "../engine/open-url.js";
import { judgeUrl } from "../engine/url-verdict.js";
import type { Options } from "./options.js";
import type { Screen } from "./screen.js";
import { visibleLine } from "./terminal.js";

/** Opens the page that a person signs in on, and says so on stderr. */
export function signInPage({ err, say }: Screen, { open }: Options): LoopbackOptions["open"] {
  const { bold, dim, yellow } = err.paint;
  return async (url) => {
    const { refusal, warnings, host } = judgeUrl(url);
    // Whatever it is, no program gets to see it.
    if (refusal !== undefined) throw new Error(refusal);
    const head = `${open ? "Opening" : "Open"} this page of ${bold(host)} to sign in:`;
    const warned = warnings.map((warning) => yellow(`  Warning: ${visibleLine(warning)}.`));
    await say([head, `  ${visibleLine(url)}`, ...warned].join("\n"));
    const problem = open ? await openUrl(url) : undefined;
    if (problem !== undefined) {
      await say(yellow(`  It could not be opened (${visibleLine(problem)}). Open it yourself.`));
    }
    await say(dim("  Waiting for you to come back from it; Ctrl-C gives up."));
  };
}
