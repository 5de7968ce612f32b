/** How the client gets its credentials in every scenario that needs some, by the name of the scenario. */
import {
  AuthError,
  clientCredentials,
  enterpriseManaged,
  loopback,
  oauth,
  workloadIdentity,
} from "mica-mcp/auth/client";
import { connect } from "mica-mcp/client";

/** The browser, and the person in it: follows the redirects, and so agrees to everything. */
const redirect = loopback({
  async open(url) {
    await fetch(url);
  },
});

const person = (options) => oauth({ clientName: "everything", redirect, ...options });

async function useTools(url, auth) {
  await using client = await connect(url, { name: "everything", version: "1.0.0", auth });
  const { tools } = await client.listTools();
  for (const { name } of tools) await client.callTool(name);
}

const signIn = (options) => (url) => useTools(url, person(options));

/** For servers that are not to be trusted: the client gives up, and for this reason. */
const giveUp = (reason) => async (url) => {
  const outcome = await useTools(url, person()).catch((error) => error);
  if (outcome instanceof AuthError && outcome.reason === reason) return;
  throw new Error(`Expected to give up because of ${reason}`, { cause: outcome });
};

export const signIns = {
  ...Object.fromEntries(
    [
      "metadata-default",
      "metadata-var1",
      "metadata-var2",
      "metadata-var3",
      "scope-from-www-authenticate",
      "scope-from-scopes-supported",
      "scope-omitted-when-undefined",
      "scope-step-up",
      "token-endpoint-auth-basic",
      "token-endpoint-auth-post",
      "token-endpoint-auth-none",
      "offline-access-scope",
      "offline-access-not-supported",
      "authorization-server-migration",
      "iss-supported",
      "iss-not-advertised",
      "dpop",
      "dpop-nonce",
    ].map((name) => [`auth/${name}`, signIn()]),
  ),

  "auth/resource-mismatch": giveUp("resource_mismatch"),
  "auth/iss-supported-missing": giveUp("issuer_mismatch"),
  "auth/iss-wrong-issuer": giveUp("issuer_mismatch"),
  "auth/iss-unexpected": giveUp("issuer_mismatch"),
  "auth/iss-normalized": giveUp("issuer_mismatch"),
  "auth/metadata-issuer-mismatch": giveUp("issuer_mismatch"),
  "auth/scope-retry-limit": giveUp("scope_refused"),

  "auth/basic-cimd": signIn({ clientMetadata: "https://conformance-test.local/client-metadata.json" }),

  "auth/pre-registration": (url, { client_id: clientId, client_secret: clientSecret }) =>
    useTools(url, person({ preregistered: { clientId, clientSecret, issuer: "any" } })),

  "auth/client-credentials-basic": (url, { client_id: clientId, client_secret: clientSecret }) =>
    useTools(url, clientCredentials({ clientId, clientSecret, issuer: "any" })),

  "auth/client-credentials-jwt": (url, { client_id: clientId, private_key_pem, signing_algorithm }) =>
    useTools(url, clientCredentials({ clientId, privateKey: private_key_pem, algorithm: signing_algorithm })),

  "auth/enterprise-managed-authorization": (url, context) =>
    useTools(
      url,
      enterpriseManaged({
        identityProvider: {
          issuer: context.idp_issuer,
          tokenEndpoint: context.idp_token_endpoint,
          client: { clientId: context.idp_client_id },
        },
        identityAssertion: () => context.idp_id_token,
        client: { clientId: context.client_id, clientSecret: context.client_secret, issuer: "any" },
      }),
    ),

  "auth/wif-jwt-bearer": (url, { client_id: clientId, valid_jwt }) =>
    useTools(url, workloadIdentity({ clientId, assertion: () => valid_jwt })),
};
