/** `mica auth`: walks the whole ladder of authorization, and draws each step. Nothing of it is kept. */
import type { AuthError, AuthStep, OAuth } from "mica-mcp/auth/client";
import { askWithout } from "../../engine/auth-challenge.js";
import { openTarget } from "../../engine/connect.js";
import { createAuth, readClientSettings } from "../../engine/credentials.js";
import { targetName, type UrlTarget } from "../../engine/target.js";
import { EXIT } from "../exit.js";
import { RUNGS, stepLines } from "../ladder.js";
import type { Outlet } from "../screen.js";
import { signInPage } from "../sign-in-page.js";
import { visibleLine } from "../terminal.js";
import { urlTarget } from "../url-target.js";
import type { Answer, VerbContext } from "../verb.js";

/** What came of the walk. */
interface Walk {
  readonly steps: AuthStep[];
  /** Where it ended early. */
  failure: { readonly reason: string; readonly message: string } | undefined;
}

export async function run(context: VerbContext): Promise<Answer> {
  const { target, options, screen } = context;
  const server = urlTarget(target, "auth");
  const walk: Walk = { steps: [], failure: undefined };
  const draw = options.json ? async () => {} : drawer(screen.out, options.verbose);
  // Drawn one after the other, whatever is done meanwhile.
  let drawn = Promise.resolve();
  const onStep = (step: AuthStep) => {
    walk.steps.push(step);
    drawn = drawn.then(() => draw(step));
    drawn.catch(() => {});
  };
  const { loopback, memoryStore } = await import("mica-mcp/auth/client");
  const auth = await createAuth({
    client: readClientSettings(options),
    scopes: options.scopes,
    redirect: loopback({
      open: async (url) => {
        await drawn;
        await signInPage(screen, options)(url);
      },
      programName: "the terminal",
      ...(options.port !== undefined && { port: options.port }),
    }),
    store: memoryStore(),
    onStep,
  });
  const asksNobody = await climb(context, server, auth, onStep).catch((error: unknown) => {
    const { reason, message } = error as Partial<AuthError>;
    if (context.signal.aborted || reason === undefined) throw error;
    walk.failure = { reason, message: message as string };
    return false;
  });
  await drawn;
  const { failure, steps } = walk;
  return {
    result: { target: targetName(target), required: !asksNobody, steps, failure: failure ?? null },
    exitCode: failure === undefined ? EXIT.ok : EXIT.unreachable,
    async print({ out }) {
      const { bold, red } = out.paint;
      const text = asksNobody
        ? "The server asks nobody to sign in."
        : failure === undefined
          ? bold("The ladder holds from the first rung to the last.")
          : `${red("Broken here:")} ${visibleLine(failure.message)}`;
      await out.write(`\n${text}\n`);
    },
  };
}

/** @returns Whether the server asks nobody. @throws AuthError where a rung breaks. */
async function climb(
  { target, options, signal }: VerbContext,
  server: UrlTarget,
  auth: OAuth,
  onStep: (step: AuthStep) => void,
): Promise<boolean> {
  const limits = { signal, timeoutMs: options.timeoutMs };
  const sent = { method: "POST", url: targetName(target), headers: {} };
  const { challenge } = await askWithout(server, limits);
  const { wwwAuthenticate } = challenge ?? {};
  const headers: Record<string, string> =
    wwwAuthenticate === undefined ? {} : { "www-authenticate": wwwAuthenticate };
  onStep({
    rung: "challenge",
    about: "server/discover, without a token",
    sent,
    answered: { status: challenge?.status ?? 200, headers },
  });
  try {
    await auth.signIn(server.url, { signal, wwwAuthenticate });
  } catch (error) {
    if (challenge === undefined && (error as Partial<AuthError>).reason === "discovery_failed") return true;
    throw error;
  }
  const settings = {
    ...limits,
    era: options.era,
    handlers: {},
    onServerLine: undefined,
    onWarning: () => {},
  };
  const { client } = await openTarget(target, { ...settings, auth });
  const { serverInfo, protocolVersion } = client;
  await client.close();
  const name = serverInfo === undefined ? "a server" : `${serverInfo.name} ${serverInfo.version}`;
  const account = await auth.account(server.url);
  const token = { authorization: `${account?.tokenType ?? "Bearer"} [hidden]` };
  onStep({
    rung: "token",
    about: "server/discover, with the token",
    sent: { ...sent, headers: token },
    answered: { status: 200, headers: {} },
  });
  onStep({ rung: "token", about: `the server takes it: ${name}, ${protocolVersion}` });
  if (account?.isRefreshable === true) await refresh(auth, server, wwwAuthenticate);
  else {
    const about = "there is no refresh token: when this token ends, somebody has to sign in again";
    onStep({ rung: "refresh", about });
  }
  await auth.signOut(server.url, { signal });
  return false;
}

/** As if the token had just been refused. */
async function refresh(auth: OAuth, { url }: UrlTarget, wwwAuthenticate: string | undefined): Promise<void> {
  const request = { server: new URL(url), url: new URL(url), method: "POST" };
  await auth.authorize(request);
  await auth.onChallenge(request, { status: 401, wwwAuthenticate });
}

/** Draws a rung where it begins, and then its steps. */
function drawer(out: Outlet, everything: boolean): (step: AuthStep) => Promise<void> {
  let rung: AuthStep["rung"] | undefined;
  let count = 0;
  return async (step) => {
    const lines = stepLines(step, { paint: out.paint, width: out.columns, everything });
    if (step.rung !== rung) {
      rung = step.rung;
      count += 1;
      lines.unshift(`${count === 1 ? "" : "\n"}${out.paint.bold(`${count}. ${RUNGS[step.rung]}`)}`);
    }
    await out.write(`${lines.join("\n")}\n`);
  };
}
