/** Credentials of whoever sits here: where they are kept, and what servers are signed in to with. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { AuthStep, HttpAuth, OAuth, OAuthOptions, PreregisteredClient } from "mica-mcp/auth/client";
import type { Target } from "./target.js";
import { asUsageError, UsageError } from "./usage-error.js";

/** What authorization servers show to people. */
const CLIENT_NAME = "Mica";

/** How to sign in to one server, besides what it says itself. Kept, because refreshing takes it as well. */
export interface ClientSettings {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly issuer?: string | undefined;
  readonly clientMetadata?: string | undefined;
}

/**
 * The file with the credentials: `MICA_CREDENTIALS`, or `mica/credentials.json` where the platform keeps settings.
 *
 * @throws UsageError where the variable is no absolute path.
 */
export function credentialsPath(env: NodeJS.ProcessEnv = process.env): string {
  const given = env["MICA_CREDENTIALS"];
  if (given !== undefined && given !== "") {
    if (isAbsolute(given)) return given;
    throw new UsageError(`MICA_CREDENTIALS: expected an absolute path, got ${JSON.stringify(given)}`);
  }
  const xdg = env["XDG_CONFIG_HOME"];
  const appData = process.platform === "win32" ? env["APPDATA"] : undefined;
  const base = appData ?? (xdg && isAbsolute(xdg) ? xdg : join(homedir(), ".config"));
  return join(base, "mica", "credentials.json");
}

/** The settings as the command line and the environment give them. @throws UsageError */
export function readClientSettings(
  { clientId, issuer, clientMetadata }: Omit<ClientSettings, "clientSecret">,
  env: NodeJS.ProcessEnv = process.env,
): ClientSettings {
  const clientSecret = env["MICA_CLIENT_SECRET"] || undefined;
  if (issuer !== undefined && clientId === undefined) {
    throw new UsageError("--issuer: says whose the client id is; expected --client-id as well");
  }
  if (clientId !== undefined && clientSecret !== undefined && issuer === undefined) {
    throw new UsageError(
      "--issuer: expected the authorization server that the secret in MICA_CLIENT_SECRET is for, so that it goes nowhere else",
    );
  }
  return {
    clientId,
    issuer,
    clientMetadata,
    clientSecret: clientId === undefined ? undefined : clientSecret,
  };
}

export interface AuthSettings {
  readonly client: ClientSettings;
  readonly scopes?: readonly string[];
  /** Without it nobody is asked. */
  readonly redirect?: OAuthOptions["redirect"];
  readonly onStep?: ((step: AuthStep) => void) | undefined;
  /** Default: the file. */
  readonly store?: OAuthOptions["store"];
}

/** @throws UsageError */
export async function createAuth({ client, scopes, ...rest }: AuthSettings): Promise<OAuth> {
  const { fileStore, oauth } = await import("mica-mcp/auth/client");
  const { clientId, clientSecret, issuer, clientMetadata } = client;
  const preregistered: PreregisteredClient | undefined =
    clientId === undefined
      ? undefined
      : clientSecret === undefined
        ? { clientId, issuer }
        : { clientId, clientSecret, issuer: issuer as string };
  try {
    return oauth({
      clientName: CLIENT_NAME,
      store: fileStore(credentialsPath()),
      preregistered,
      clientMetadata,
      ...(scopes !== undefined && scopes.length > 0 && { scopes }),
      ...rest,
    });
  } catch (error) {
    throw asUsageError(error);
  }
}

const settingsKey = (url: string): string => `mica ${url}`;

/** Keeps what a server was signed in to with. */
export async function keepSettings(url: string, settings: ClientSettings): Promise<void> {
  const { fileStore } = await import("mica-mcp/auth/client");
  const store = fileStore(credentialsPath());
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const record = await store.read(settingsKey(url));
  if (given.length === 0 && record === undefined) return;
  await store.write(
    settingsKey(url),
    given.length > 0 ? Object.fromEntries(given) : undefined,
    record?.version,
  );
}

export async function keptSettings(url: string): Promise<ClientSettings> {
  const { fileStore } = await import("mica-mcp/auth/client");
  return ((await fileStore(credentialsPath()).read(settingsKey(url)))?.value ?? {}) as ClientSettings;
}

/** Whether a header that was given says who calls. */
export function saysWhoCalls(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

/**
 * Credentials for a server that somebody is signed in to; undefined for any other, and where a header that was given says
 * who calls. Nothing is loaded without the file.
 */
export async function keptAuth(target: Target): Promise<HttpAuth | undefined> {
  if (target.kind !== "url" || saysWhoCalls(target.headers) || !existsSync(credentialsPath()))
    return undefined;
  const { url } = target;
  const auth = await createAuth({ client: await keptSettings(url) });
  return (await auth.account(url)) && auth;
}
