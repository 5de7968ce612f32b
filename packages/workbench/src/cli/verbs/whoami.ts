/** `mica whoami`: who is signed in to a server, without asking it. */
import { createAuth, keptSettings } from "../../engine/credentials.js";
import { targetName } from "../../engine/target.js";
import { accountLines } from "../account-text.js";
import { EXIT } from "../exit.js";
import { visibleLine } from "../terminal.js";
import { urlTarget } from "../url-target.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ target }: VerbContext): Promise<Answer> {
  const { url } = urlTarget(target, "whoami");
  const auth = await createAuth({ client: await keptSettings(url) });
  const account = await auth.account(url);
  const name = targetName(target);
  const isSignedIn = account?.isSignedIn === true;
  return {
    result: { target: name, account: account ?? null },
    exitCode: isSignedIn ? EXIT.ok : EXIT.unreachable,
    async print({ out }) {
      const head = isSignedIn
        ? `Signed in to ${visibleLine(name)}`
        : `Nobody is signed in to ${visibleLine(name)}.`;
      const lines = account === undefined ? [head] : [head, ...accountLines(account, out.paint)];
      await out.write(`${lines.join("\n")}\n`);
    },
  };
}
