/** How a client proves to an authorization server who it is (RFC 6749, section 2.3; RFC 7523, section 2.2). */

/** With a secret: in the `Authorization` header, which every server must support, or in the body. */
export interface SecretAuthentication {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Default `client_secret_basic`. */
  readonly method?: "client_secret_basic" | "client_secret_post";
}

/** With a signature (`private_key_jwt`): the secret never leaves this process. */
export interface KeyAuthentication {
  readonly clientId: string;
  /** A private key as JWK, or as PEM in PKCS #8. */
  readonly privateKey: Readonly<Record<string, unknown>> | string;
  /** Default: `alg` of the JWK. Needed with PEM. */
  readonly algorithm?: string;
  /** Default: `kid` of the JWK. */
  readonly keyId?: string;
  /** What the assertion is addressed to. Default: the URL of the endpoint; newer servers want their issuer. */
  readonly audience?: string;
}

/** Without proof: a public client. */
export interface PublicClient {
  readonly clientId: string;
}

export type ClientAuthentication = SecretAuthentication | KeyAuthentication | PublicClient;

/** What has to go into a request: headers, and members of the form. */
export interface ClientProof {
  readonly headers: Record<string, string>;
  readonly form: Record<string, string>;
}

/** The type of an assertion that is a JWT (RFC 7523, section 2.2). */
const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/** Seconds: long enough for the way there and for clocks that differ. */
const ASSERTION_LIFETIME = 60;

/** @throws TypeError naming the member of `what` that is missing or wrong. */
export function checkClientAuthentication(client: unknown, what: string): ClientAuthentication {
  if (typeof client !== "object" || client === null) throw new TypeError(`${what} must be an object`);
  const { clientId, clientSecret, privateKey, algorithm, method } = client as Record<string, unknown>;
  if (typeof clientId !== "string" || clientId === "") {
    throw new TypeError(`${what}.clientId must be a non-empty string, got ${JSON.stringify(clientId)}`);
  }
  // The values of secrets stay out of every message.
  if ("clientSecret" in client && (typeof clientSecret !== "string" || clientSecret === "")) {
    throw new TypeError(`${what}.clientSecret must be a non-empty string`);
  }
  if (method !== undefined && method !== "client_secret_basic" && method !== "client_secret_post") {
    throw new TypeError(
      `${what}.method must be client_secret_basic or client_secret_post, got ${JSON.stringify(method)}`,
    );
  }
  if (privateKey !== undefined && (typeof privateKey !== "object" || privateKey === null)) {
    if (typeof privateKey !== "string") throw new TypeError(`${what}.privateKey must be a JWK or PEM`);
    if (algorithm === undefined) throw new TypeError(`${what}.algorithm must be given with a key in PEM`);
  }
  return client as ClientAuthentication;
}

/** @example const { headers, form } = await proveClient({ clientId: "mcp", clientSecret }, endpoint); */
export async function proveClient(client: ClientAuthentication, endpoint: URL): Promise<ClientProof> {
  const { clientId } = client;
  if ("clientSecret" in client) {
    const { clientSecret, method } = client;
    if (method === "client_secret_post") {
      return { headers: {}, form: { client_id: clientId, client_secret: clientSecret } };
    }
    const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
    return { headers: { authorization: `Basic ${btoa(pair)}` }, form: {} };
  }
  if ("privateKey" in client) {
    const assertion = await signAssertion(client, endpoint);
    return {
      headers: {},
      form: { client_id: clientId, client_assertion_type: JWT_BEARER, client_assertion: assertion },
    };
  }
  return { headers: {}, form: { client_id: clientId } };
}

/** Both halves are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function formEncode(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

async function signAssertion(client: KeyAuthentication, endpoint: URL): Promise<string> {
  const { importJWK, importPKCS8, SignJWT } = await import("jose");
  const { clientId, privateKey, audience = endpoint.href } = client;
  const jwk = typeof privateKey === "string" ? {} : privateKey;
  const algorithm = client.algorithm ?? jwk["alg"];
  if (typeof algorithm !== "string") {
    throw new TypeError(`The private key of client ${clientId} names no alg, and no algorithm is given`);
  }
  const keyId = client.keyId ?? jwk["kid"];
  const key =
    typeof privateKey === "string"
      ? await importPKCS8(privateKey, algorithm)
      : await importJWK(privateKey, algorithm);
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: algorithm, ...(typeof keyId === "string" && { kid: keyId }) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_LIFETIME)
    .sign(key);
}
