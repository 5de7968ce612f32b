/** `mica logout`: revokes what was issued for a server, and forgets it. */
import { createAuth, keepSettings, keptSettings } from "../../engine/credentials.js";
import { targetName } from "../../engine/target.js";
import { visibleLine } from "../terminal.js";
import { urlTarget } from "../url-target.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ target, signal }: VerbContext): Promise<Answer> {
  const { url } = urlTarget(target, "logout");
  const auth = await createAuth({ client: await keptSettings(url) });
  const signedOut = await auth.signOut(url, { signal });
  await keepSettings(url, {});
  const name = visibleLine(targetName(target));
  const text =
    signedOut === undefined
      ? `Nobody is signed in to ${name}.`
      : `Signed out of ${name}${signedOut.isRevoked ? `; ${visibleLine(signedOut.issuer)} was told` : ""}.`;
  const problem = signedOut?.problem;
  return {
    result: { target: targetName(target), wasSignedIn: signedOut !== undefined, ...signedOut },
    print: ({ out }) => out.write(`${text}\n`),
    ...(problem !== undefined && {
      warnings: [
        {
          code: "not_revoked",
          message: `What was issued is forgotten here, and not revoked there: ${problem}`,
        },
      ],
    }),
  };
}
