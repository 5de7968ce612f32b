/** Proofs that a token is presented by whom it was issued to (RFC 9449): a key, a fresh proof for each request, nonces. */
import type { webcrypto } from "node:crypto";
import { AuthError } from "./auth-error.js";

/** Whether tokens are bound to a key: where the server demands it (`auto`), always, or never. */
export type DpopMode = "auto" | "always" | "never";

/** A private key as JWK, with its algorithm: what is kept of it between processes. */
export type DpopJwk = Readonly<Record<string, string>>;

export interface DpopKey {
  readonly algorithm: string;
  /** The thumbprint of the public key (RFC 7638), for `dpop_jkt`. */
  readonly thumbprint: string;
  /** To be kept with the token. */
  readonly jwk: DpopJwk;
  /**
   * One proof for one request.
   *
   * @param token The access token that goes with it; none at an authorization server.
   */
  prove(method: string, url: URL, nonce: string | undefined, token?: string): Promise<string>;
}

/** By the names of JWA. None that shares a secret: "only asymmetric" (RFC 9449, section 11.6). */
const ALGORITHMS: ReadonlyMap<string, { generate: object; sign: object }> = new Map([
  ["ES256", { generate: { name: "ECDSA", namedCurve: "P-256" }, sign: { name: "ECDSA", hash: "SHA-256" } }],
  ["ES384", { generate: { name: "ECDSA", namedCurve: "P-384" }, sign: { name: "ECDSA", hash: "SHA-384" } }],
  ["PS256", { generate: rsa("RSA-PSS"), sign: { name: "RSA-PSS", saltLength: 32 } }],
  ["RS256", { generate: rsa("RSASSA-PKCS1-v1_5"), sign: { name: "RSASSA-PKCS1-v1_5" } }],
]);

function rsa(name: string): object {
  return { name, hash: "SHA-256", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
}

/** Members of the public key, in the order in which a thumbprint takes them (RFC 7638, section 3.2). */
const PUBLIC_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  EC: ["crv", "kty", "x", "y"],
  RSA: ["e", "kty", "n"],
};

const base64url = (bytes: ArrayBuffer | Uint8Array): string => {
  let binary = "";
  for (const byte of new Uint8Array(bytes)) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
};
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const digest = async (text: string): Promise<string> =>
  base64url(await crypto.subtle.digest("SHA-256", bytesOf(text)));

/**
 * Makes a key.
 *
 * @param supported `dpop_signing_alg_values_supported` of the authorization server.
 * @throws AuthError `dpop_unavailable` naming what both sides support.
 */
export async function createDpopKey(supported: readonly string[] | undefined): Promise<DpopKey> {
  const algorithm = [...ALGORITHMS.keys()].find((name) => supported?.includes(name));
  if (algorithm === undefined) {
    const theirs = supported === undefined ? "no algorithm" : supported.join(", ") || "none";
    const ours = [...ALGORITHMS.keys()].join(", ");
    throw new AuthError(
      "dpop_unavailable",
      `Tokens must be bound to a key (DPoP), and the authorization server names ${theirs} for it; this client has ${ours}`,
    );
  }
  const { generate } = ALGORITHMS.get(algorithm)!;
  const pair = (await crypto.subtle.generateKey(generate as webcrypto.EcKeyGenParams, true, [
    "sign",
  ])) as webcrypto.CryptoKeyPair;
  const jwk = (await crypto.subtle.exportKey("jwk", pair.privateKey)) as Record<string, unknown>;
  const members = Object.entries(jwk).filter(([, value]) => typeof value === "string");
  return loadDpopKey({ ...(Object.fromEntries(members) as Record<string, string>), alg: algorithm });
}

/** @throws AuthError `store_failed` where it is no key of this module. */
export async function loadDpopKey(jwk: DpopJwk): Promise<DpopKey> {
  const algorithm = jwk["alg"] ?? "";
  const found = ALGORITHMS.get(algorithm);
  const members = PUBLIC_MEMBERS[jwk["kty"] ?? ""];
  if (found === undefined || members === undefined) {
    throw new AuthError(
      "store_failed",
      `The DPoP key that is kept is of an unknown kind: ${algorithm || "no alg"}`,
    );
  }
  const { alg: _, ...material } = jwk;
  const key = await crypto.subtle.importKey(
    "jwk",
    material as webcrypto.JsonWebKey,
    found.generate as webcrypto.EcKeyImportParams,
    false,
    ["sign"],
  );
  const publicJwk = Object.fromEntries(members.map((name) => [name, jwk[name]]));
  const header = base64url(bytesOf(JSON.stringify({ typ: "dpop+jwt", alg: algorithm, jwk: publicJwk })));
  return {
    algorithm,
    jwk,
    thumbprint: await digest(JSON.stringify(publicJwk)),
    async prove(method, { origin, pathname }, nonce, token) {
      const claims = {
        jti: crypto.randomUUID(),
        htm: method,
        // Without query and fragment (RFC 9449, section 4.2).
        htu: `${origin}${pathname}`,
        iat: Math.floor(Date.now() / 1000),
        ...(nonce !== undefined && { nonce }),
        ...(token !== undefined && { ath: await digest(token) }),
      };
      const input = `${header}.${base64url(bytesOf(JSON.stringify(claims)))}`;
      const signature = await crypto.subtle.sign(found.sign as webcrypto.EcdsaParams, key, bytesOf(input));
      return `${input}.${base64url(signature)}`;
    },
  };
}

/** The last nonce of every origin (RFC 9449, sections 8.2 and 9): one of an authorization server is good for no other. */
export interface Nonces {
  get(url: URL): string | undefined;
  /** Takes the `DPoP-Nonce` of an answer; says whether it is a new one. */
  take(url: URL, nonce: unknown): boolean;
}

const MAX_ORIGINS = 100;

export function createNonces(): Nonces {
  const byOrigin = new Map<string, string>();
  return {
    get: ({ origin }) => byOrigin.get(origin),
    take({ origin }, nonce) {
      if (typeof nonce !== "string" || nonce === "" || byOrigin.get(origin) === nonce) return false;
      byOrigin.delete(origin);
      byOrigin.set(origin, nonce);
      if (byOrigin.size > MAX_ORIGINS) byOrigin.delete(byOrigin.keys().next().value as string);
      return true;
    },
  };
}
