/**
 * The rungs from nobody to an opened incident at the front door of the incident log: the command as a process, with
 * tokens of a test issuer whose key is at hand. Each with its status and its exact challenge.
 */
import { type CryptoKey, exportSPKI, generateKeyPair, importJWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtFiles, type Running, run } from "../../kit/test/process.js";
import { type DevIssuer, startDevIssuer } from "../src/dev-issuer.js";
import { temporaryFiles } from "./folder.js";
import { callTool } from "./http.js";

const file = temporaryFiles();
const built = builtFiles(import.meta.url, "../src/incidents-mcp.ts");
const now = (): number => Math.floor(Date.now() / 1000);
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

let issuer: DevIssuer;
let log: Running;
let url: string;

beforeAll(async () => {
  issuer = await startDevIssuer({ scopes: ["incidents:read", "incidents:write"], resource: () => url });
  const options = ["--http", "127.0.0.1:0", "--auth", issuer.issuer, "--database", file()];
  log = run(built("incidents-mcp.ts"), options);
  url = (await log.printed(/^Incident log at (http:\S+)$/m))[1]!;
});
afterAll(async () => {
  log.child.kill("SIGTERM");
  expect(await log.finished).toMatchObject({ code: 0, stderr: "" });
  await issuer.close();
});

const metadata = (): string => url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
const claims = (changed: Record<string, unknown> = {}): Record<string, unknown> => {
  const all = {
    iss: issuer.issuer,
    sub: "me",
    aud: url,
    exp: now() + 60,
    scope: "incidents:read",
    ...changed,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};
const token = (changed?: Record<string, unknown>): Promise<string> => issuer.sign(claims(changed));
const invalid = (why: string): string =>
  `Bearer error="invalid_token", scope="incidents:read", resource_metadata="${metadata()}", error_description="${why}"`;
const ALGORITHMS = "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519";
const otherAlgorithm = `The access token is signed with an algorithm that is not accepted: expected ${ALGORITHMS}`;

async function expectRefusal(
  given: string | undefined,
  status: number,
  challenge: string,
  name = "search_incidents",
): Promise<void> {
  const args = name === "open_incident" ? { title: "Queue backed up", severity: "sev2" } : {};
  const { json, ...answer } = await callTool(url, name, args, given);
  expect(answer).toEqual({ status, challenge });
  expect(json.error).toMatchObject({ code: -32600 });
  expect(json.result).toBeUndefined();
}

describe("the ladder", () => {
  it("says beforehand where tokens come from", async () => {
    const response = await fetch(metadata());
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      resource: url,
      authorization_servers: [issuer.issuer],
      scopes_supported: ["incidents:read", "incidents:write"],
      bearer_methods_supported: ["header"],
      resource_name: "Incident log",
    });
  });

  it("no token: 401, without an error", () =>
    expectRefusal(undefined, 401, `Bearer resource_metadata="${metadata()}", scope="incidents:read"`));

  it("garbage: 401", () => expectRefusal("garbage", 401, invalid("The access token is not a signed JWT")));

  it("expired: 401", async () =>
    expectRefusal(await token({ exp: now() - 60 }), 401, invalid("The access token has expired")));

  it("no expiry: 401", async () =>
    expectRefusal(await token({ exp: undefined }), 401, invalid("The access token names no expiry")));

  it("wrong audience: 401", async () =>
    expectRefusal(
      await token({ aud: "https://other.example.com/mcp" }),
      401,
      invalid(`The access token is meant for another audience: expected ${url}`),
    ));

  it("no audience: 401", async () =>
    expectRefusal(await token({ aud: undefined }), 401, invalid("The access token names no audience")));

  it("wrong issuer: 401", async () =>
    expectRefusal(
      await token({ iss: "https://auth.example.com" }),
      401,
      invalid(`The access token is from another issuer: expected ${issuer.issuer}`),
    ));

  it("the name of the issuer, with the key of somebody else: 401", async () => {
    const { privateKey } = await generateKeyPair("ES256");
    const forged = await new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", kid: issuer.jwk.kid!, typ: "at+jwt" })
      .sign(privateKey);
    await expectRefusal(forged, 401, invalid("The signature of the access token is not valid"));
  });

  it("alg none: 401", async () => {
    const unsigned = `${base64({ alg: "none", typ: "at+jwt" })}.${base64(claims())}.`;
    await expectRefusal(unsigned, 401, invalid(otherAlgorithm));
  });

  it("HS256 with the public key as the secret: 401", async () => {
    const publicKey = (await importJWK(issuer.jwk, "ES256", { extractable: true })) as CryptoKey;
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(issuer.jwk)]) {
      const forged = await new SignJWT(claims())
        .setProtectedHeader({ alg: "HS256", kid: issuer.jwk.kid!, typ: "at+jwt" })
        .sign(new TextEncoder().encode(secret));
      await expectRefusal(forged, 401, invalid(otherAlgorithm));
    }
  });

  const insufficient = (scope: string, missing: string): string =>
    `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata()}", error_description="Missing scopes: ${missing}"`;

  it("right audience, without scope: 403", async () => {
    const challenge = insufficient("incidents:read", "incidents:read");
    await expectRefusal(await token({ scope: undefined }), 403, challenge);
    await expectRefusal(await token({ scope: "incidents:reader" }), 403, challenge);
  });

  it("right scope: served", async () => {
    const { status, challenge, json } = await callTool(url, "search_incidents", {}, await token());
    expect({ status, challenge }).toEqual({ status: 200, challenge: null });
    expect(json.result?.content?.[0]?.text).toBe('{"incidents":[]}');
  });

  it("step-up: 403 that names all it takes, and served with exactly that", async () => {
    const both = "incidents:read incidents:write";
    const challenge = insufficient(both, "incidents:write");
    await expectRefusal(await token(), 403, challenge, "open_incident");
    await expectRefusal(await token(), 403, challenge, "resolve_incident");
    const nothing = insufficient(both, both);
    await expectRefusal(await token({ scope: "" }), 403, nothing, "open_incident");
    const args = { title: "Queue backed up", severity: "sev2" };
    const { status, json } = await callTool(url, "open_incident", args, await token({ scope: both }));
    expect(status).toBe(200);
    expect(json.result?.content?.[0]?.text).toContain("INC-1");
  });

  it("writing includes reading", async () => {
    const writing = await token({ scope: "incidents:write" });
    const { status, json } = await callTool(url, "search_incidents", { text: "queue" }, writing);
    expect(status).toBe(200);
    expect(json.result?.content?.[0]?.text).toContain("INC-1");
  });
});
