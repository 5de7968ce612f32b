/** Programs that act for themselves: the client credentials grant (extension io.modelcontextprotocol/oauth-client-credentials). */
import * as oauth from "oauth4webapi";
import type { HttpAuth } from "../../http/client-auth.js";
import {
  checkClientAuthentication,
  type KeyAuthentication,
  type SecretAuthentication,
} from "../shared/client-authentication.js";
import { requireIssuer } from "./client-options.js";
import { knownClient } from "./known-client.js";
import { type MachineOptions, machineAuth } from "./machine.js";
import { requestTokens } from "./token-endpoint.js";

/**
 * Who the program is, by a key (recommended: it never leaves this process) or by a secret, which names the issuer that
 * it may be sent to: `any` is for servers that are your own.
 */
export type ClientCredentialsOptions = MachineOptions &
  (
    | (KeyAuthentication & { readonly issuer?: string | undefined })
    | (SecretAuthentication & { readonly issuer: string | "any" })
  );

/**
 * Gets tokens for a program, without a person.
 *
 * @throws TypeError naming the option that is wrong.
 * @example const auth = clientCredentials({ clientId: "nightly", privateKey: pem, algorithm: "ES256" });
 */
export function clientCredentials(options: ClientCredentialsOptions): HttpAuth {
  const client = checkClientAuthentication(options, "clientCredentials") as ClientCredentialsOptions;
  if (!("clientSecret" in client) && !("privateKey" in client)) {
    throw new TypeError("clientCredentials: expected a clientSecret or a privateKey");
  }
  if ("clientSecret" in client) requireIssuer(client.issuer, "clientCredentials");
  return machineAuth({
    extension: "io.modelcontextprotocol/oauth-client-credentials",
    clientId: client.clientId,
    issuer: client.issuer ?? "any",
    options,
    ask: ({ http, discovered: { metadata, resource }, scopes, dpop, nonces }) =>
      requestTokens({
        http,
        metadata,
        client: knownClient(client, "preregistered", { metadata }),
        dpop,
        nonces,
        rung: "token",
        about: "the client's own credentials for a token",
        send: ({ as, client, prove, options }) =>
          oauth.clientCredentialsGrantRequest(
            as,
            client,
            prove,
            { resource, ...(scopes.length > 0 && { scope: scopes.join(" ") }) },
            options,
          ),
      }),
  });
}
