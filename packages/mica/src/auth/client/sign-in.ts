/** Signing a person in: the authorization code grant, from a client id to tokens. */
import * as oauth from "oauth4webapi";
import { AuthError, messageOf } from "./auth-error.js";
import type { AuthHttp } from "./auth-http.js";
import { authorizationRequest } from "./authorization-request.js";
import { judgeAuthorizationResponse } from "./authorization-response.js";
import type { ClientOptions } from "./client-options.js";
import type { Discovered } from "./discovery.js";
import type { DpopKey } from "./dpop.js";
import { type Grant, type GrantClient, grantClient, grantTokens } from "./grant.js";
import type { RenewalContext } from "./grant-source.js";
import { identityOf } from "./identity.js";
import type { KnownClient } from "./known-client.js";
import { checkRedirectUri, type Redirect, type RedirectListener } from "./redirect.js";
import { clientKey, existingClient, forgetClient, registerClient } from "./registration.js";
import type { SelectedScopes } from "./scope-selection.js";
import { requirePkce, type ServerMetadata } from "./server-metadata.js";
import { queryOf } from "./step.js";
import { requestTokens } from "./token-endpoint.js";

export interface SignIn {
  readonly context: RenewalContext;
  readonly discovered: Discovered;
  readonly selected: SelectedScopes;
  readonly dpop: DpopKey | undefined;
  readonly dpopAlways: boolean;
  readonly redirect: Redirect;
  readonly client: ClientOptions;
}

/** @throws AuthError */
export async function signIn(given: SignIn): Promise<Grant> {
  const { context, discovered, redirect } = given;
  const { http, store } = context;
  const { metadata } = discovered;
  requirePkce(metadata);
  const existing = await existingClient({ metadata, options: given.client, store });
  const listener = await redirect.listen(existing?.redirectUris ?? []);
  let wentWell = false;
  try {
    checkRedirectUri(listener.uri);
    const isUsable =
      existing !== undefined &&
      (existing.source !== "registered" || existing.redirectUris.includes(listener.uri));
    const client = isUsable
      ? existing
      : await registerClient({
          http,
          metadata,
          options: given.client,
          store,
          redirectUri: listener.uri,
          dpopAlways: given.dpopAlways,
        });
    tellClient(http, client);
    const { scopes, from } = given.selected;
    http.tell({ rung: "authorization", about: `scopes: ${scopes.join(" ") || "none"}, from ${from}` });
    const grant = await authorize(given, client, listener, isUsable);
    wentWell = true;
    return grant;
  } finally {
    await listener.close(wentWell);
  }
}

const SOURCES: Readonly<Record<KnownClient["source"], string>> = {
  preregistered: "registered beforehand",
  metadata_document: "described by a document at that URL",
  registered: "registered with this authorization server",
};

function tellClient(http: AuthHttp, { clientId, source, method }: KnownClient): void {
  http.tell({
    rung: "registration",
    about: `the client is ${clientId}, ${SOURCES[source]}; authenticates by ${method}`,
  });
}

async function authorize(
  { context, discovered, selected: { scopes }, dpop }: SignIn,
  client: KnownClient,
  listener: RedirectListener,
  wasKnown: boolean,
): Promise<Grant> {
  const { http, nonces, store } = context;
  const { metadata, resource } = discovered;
  const { record, url } = await authorizationRequest(http, {
    metadata,
    client,
    redirectUri: listener.uri,
    resource,
    scopes,
    dpopThumbprint: dpop?.thumbprint,
  });
  const isUnknown = async (error: unknown): Promise<never> => {
    // A server that does not know the client any more says so to the person only, or at the token endpoint.
    const { reason, oauthError } = error as Partial<AuthError>;
    if (wasKnown && (reason === "sign_in_timeout" || oauthError === "invalid_client")) {
      await forgetClient(store, metadata.issuer, client.clientId);
    }
    throw error;
  };
  const callback = await visit(http, listener, url, record.state).catch(isUnknown);
  const parameters = judgeAuthorizationResponse(callback, record);
  const tokens = await requestTokens({
    http,
    metadata,
    client,
    dpop,
    nonces,
    rung: "token",
    about: "the code for tokens",
    send: ({ as, client, prove, options }) =>
      oauth.authorizationCodeGrantRequest(
        as,
        client,
        prove,
        oauth.validateAuthResponse(as, client, parameters, record.state),
        record.redirectUri,
        record.codeVerifier,
        { ...options, additionalParameters: { resource } },
      ),
  }).catch(isUnknown);
  return {
    resource,
    issuer: metadata.issuer,
    client: await keptClient(context, metadata, client),
    requested: scopes,
    tokens: grantTokens(tokens),
    dpop: dpop?.jwk,
    identity: identityOf(tokens.idToken, metadata.issuer, client.clientId),
  };
}

async function visit(http: AuthHttp, listener: RedirectListener, url: URL, state: string): Promise<URL> {
  const { signal, limits } = http;
  const sent = { method: "GET", url: `${url.origin}${url.pathname}`, headers: {}, members: queryOf(url) };
  http.tell({ rung: "authorization", about: "the page for the person", sent });
  const late = AbortSignal.timeout(limits.signInTimeoutMs);
  try {
    const callback = new URL(await listener.visit(url.href, state, AbortSignal.any([signal, late])));
    http.tell({
      rung: "authorization",
      about: "the browser came back",
      sent: {
        method: "GET",
        url: `${callback.origin}${callback.pathname}`,
        headers: {},
        members: queryOf(callback),
      },
    });
    return callback;
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) {
      throw new AuthError(
        "sign_in_timeout",
        `Nobody came back from ${url.origin} within ${limits.signInTimeoutMs} ms (signInTimeoutMs)`,
      );
    }
    if (error instanceof AuthError) throw error;
    throw new AuthError(
      "access_denied",
      `The page of ${url.origin} could not be shown: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** A registration may be replaced by another; what was issued to it goes on under its own. */
async function keptClient(
  { store }: RenewalContext,
  { issuer }: ServerMetadata,
  client: KnownClient,
): Promise<GrantClient> {
  if (client.source !== "registered") return grantClient(client);
  const value = (await store.read(clientKey(issuer)))?.value;
  const secret = value?.["clientId"] === client.clientId ? value["clientSecret"] : undefined;
  return {
    ...grantClient(client),
    method: client.method,
    ...(typeof secret === "string" && { clientSecret: secret }),
  };
}
