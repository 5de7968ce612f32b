/** `mica login`: signs in to a server, once for all the commands to come. */
import type { Account, AuthError, AuthStep } from "mica-mcp/auth/client";
import { askWithout } from "../../engine/auth-challenge.js";
import { openTarget } from "../../engine/connect.js";
import { createAuth, keepSettings, readClientSettings } from "../../engine/credentials.js";
import { targetName } from "../../engine/target.js";
import { accountLines } from "../account-text.js";
import { stepLines } from "../ladder.js";
import type { Screen } from "../screen.js";
import { signInPage } from "../sign-in-page.js";
import { visibleLine } from "../terminal.js";
import { urlTarget } from "../url-target.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ target, options, screen, signal }: VerbContext): Promise<Answer> {
  const server = urlTarget(target, "login");
  const client = readClientSettings(options);
  const { loopback } = await import("mica-mcp/auth/client");
  const auth = await createAuth({
    client,
    scopes: options.scopes,
    redirect: loopback({
      open: signInPage(screen, options),
      programName: "the terminal",
      ...(options.port !== undefined && { port: options.port }),
    }),
    onStep: options.verbose ? (step) => void tell(screen, step) : undefined,
  });
  const name = targetName(target);
  const { challenge } = await askWithout(server, { signal, timeoutMs: options.timeoutMs });
  const before = await auth.account(server.url);
  let account: Account;
  try {
    const again = options.again || isMore(options.scopes, before);
    account = await auth.signIn(server.url, { signal, again, wwwAuthenticate: challenge?.wwwAuthenticate });
  } catch (error) {
    if (challenge !== undefined || (error as Partial<AuthError>).reason !== "discovery_failed") throw error;
    return {
      result: { target: name, required: false },
      print: ({ out }) => out.write(`${visibleLine(name)} asks nobody to sign in.\n`),
    };
  }
  await keepSettings(server.url, client);
  // What was issued is good for something only when the server takes it.
  const settings = {
    signal,
    timeoutMs: options.timeoutMs,
    era: options.era,
    handlers: {},
    onServerLine: undefined,
  };
  const opened = await openTarget(target, { ...settings, auth, onWarning: () => {} });
  const { serverInfo } = opened.client;
  await opened.client.close();
  return {
    result: { target: name, required: true, account },
    async print({ out }) {
      const server =
        serverInfo?.name === undefined ? "" : `${out.paint.bold(visibleLine(serverInfo.name))} at `;
      const lines = [`Signed in to ${server}${visibleLine(name)}`, ...accountLines(account, out.paint)];
      await out.write(`${lines.join("\n")}\n`);
    },
  };
}

/** Whether scopes are asked for that whoever is signed in does not have. */
function isMore(scopes: readonly string[], account: Account | undefined): boolean {
  return scopes.some((scope) => account?.scopes.includes(scope) === false);
}

/** One piece of text, so that nothing comes between its lines. */
function tell({ say, err }: Screen, step: AuthStep): Promise<void> {
  const drawing = { paint: err.paint, width: err.columns, everything: false };
  return say(stepLines(step, drawing).join("\n"));
}
