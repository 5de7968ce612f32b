/** What the client does with the skills of a server (SEP-2640). */
import { connect, McpError } from "mica-mcp/client";
import { skillsOf } from "mica-mcp/skills";
import { parse } from "yaml";

const me = { name: "everything", version: "1.0.0" };

/** For skills that are not what their entry says: the client gives up loading, and for this reason. */
const refuse = (reason) => async (url) => {
  await using client = await connect(url, me);
  const reader = skillsOf(client, { parseYaml: parse });
  const [entry] = await reader.list();
  const outcome = await reader.load(entry).catch((error) => error);
  if (outcome instanceof McpError && reason.test(outcome.message)) return;
  throw new Error(`Expected the skill to be refused because of ${reason}`, { cause: outcome });
};

export const skills = {
  async "sep-2640-client-no-prefetch"(url) {
    await using client = await connect(url, me);
    await skillsOf(client, { parseYaml: parse }).list();
  },
  "sep-2640-client-verify-digest": refuse(/has digest sha256:/),
  "sep-2640-client-verify-size": refuse(/has \d+ bytes/),
  "sep-2640-client-verify-frontmatter": refuse(/has other frontmatter/),
};
