/**
 * The whole ladder between programs that know nothing of each other: the command `incidents-mcp --auth ISSUER` as a
 * process, tokens that oidc-provider issues for it, and clients. Each rung with its status and its exact challenge.
 */
import { decodeJwt, exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import { fileStore, loopback, oauth } from "mica-mcp/auth/client";
import { connect } from "mica-mcp/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browse } from "../../../packages/mica/test/auth/client/browser.js";
import { builtFiles, type Running, run } from "../../kit/test/process.js";
import { temporaryFiles } from "./folder.js";
import { callTool } from "./http.js";
import { type OidcIssuer, oidcIssuer } from "./oidc-issuer.js";

const file = temporaryFiles();
const built = builtFiles(import.meta.url, "../src/incidents-mcp.ts", "./fixtures/signed-in.ts");

let issuer: OidcIssuer;
let log: Running;
let url: string;

beforeAll(async () => {
  // It says at length that its defaults are not for production.
  for (const level of ["info", "warn"] as const) vi.spyOn(console, level).mockImplementation(() => {});
  issuer = await oidcIssuer();
  const options = ["--http", "127.0.0.1:0", "--auth", issuer.issuer, "--database", file()];
  log = run(built("incidents-mcp.ts"), options);
  url = (await log.printed(/^Incident log at (http:\S+)$/m))[1]!;
});
afterAll(async () => {
  vi.restoreAllMocks();
  log.child.kill("SIGTERM");
  expect(await log.finished).toMatchObject({ code: 0, stderr: "" });
  await issuer.close();
});

const READ = "incidents:read";
const WRITE = "incidents:write";
const metadata = (): string => url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
const invalid = (why: string): string =>
  `Bearer error="invalid_token", scope="${READ}", resource_metadata="${metadata()}", error_description="${why}"`;
const insufficient = (scope: string, missing: string): string =>
  `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata()}", error_description="Missing scopes: ${missing}"`;
const otherAlgorithm =
  "The access token is signed with an algorithm that is not accepted: expected RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519";

const INCIDENT = { title: "Queue backed up", severity: "sev2" };
const argumentsOf = (tool: string) => (tool === "open_incident" ? INCIDENT : {});

async function refused(
  token: string | undefined,
  status: number,
  challenge: string,
  tool = "search_incidents",
): Promise<void> {
  const { json, ...answer } = await callTool(url, tool, argumentsOf(tool), token);
  expect(answer).toEqual({ status, challenge });
  expect(json.error).toMatchObject({ code: -32600 });
  expect(json.result).toBeUndefined();
}

async function served(token: string, tool = "search_incidents"): Promise<string> {
  const { json, ...answer } = await callTool(url, tool, argumentsOf(tool), token);
  expect(answer).toEqual({ status: 200, challenge: null });
  expect(json.result?.isError).not.toBe(true);
  return json.result?.content?.[0]?.text ?? "";
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("what the incident log says to tokens of oidc-provider", () => {
  it("where tokens come from, beforehand", async () => {
    const response = await fetch(metadata());
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      resource: url,
      authorization_servers: [issuer.issuer],
      scopes_supported: [READ, WRITE],
      bearer_methods_supported: ["header"],
      resource_name: "Incident log",
    });
  });

  it("no token: 401, without an error", () =>
    refused(undefined, 401, `Bearer resource_metadata="${metadata()}", scope="${READ}"`));

  it("garbage: 401", () => refused("garbage", 401, invalid("The access token is not a signed JWT")));

  it("expired: 401", async () =>
    refused(await issuer.token("expired", READ, url), 401, invalid("The access token has expired")));

  it("no expiry: 401", async () =>
    refused(await issuer.token("no-expiry", READ, url), 401, invalid("The access token names no expiry")));

  it("wrong audience: 401", async () =>
    refused(
      await issuer.token("script", READ, "https://other.example.com/mcp"),
      401,
      invalid(`The access token is meant for another audience: expected ${url}`),
    ));

  it("wrong issuer: 401", async () =>
    refused(
      await issuer.token("other-issuer", READ, url),
      401,
      invalid(`The access token is from another issuer: expected ${issuer.issuer}`),
    ));

  it("the name of the issuer, with the key of somebody else: 401", async () => {
    const claims = decodeJwt(await issuer.token("script", READ, url));
    const { privateKey } = await generateKeyPair("ES256");
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", kid: issuer.kid, typ: "at+jwt" })
      .sign(privateKey);
    await refused(forged, 401, invalid("The signature of the access token is not valid"));
  });

  it("alg none: 401", async () => {
    const claims = (await issuer.token("script", READ, url)).split(".")[1];
    await refused(`${base64({ alg: "none", typ: "at+jwt" })}.${claims}.`, 401, invalid(otherAlgorithm));
  });

  it("HS256 with the public key as the secret: 401", async () => {
    const claims = decodeJwt(await issuer.token("script", READ, url));
    const { publicKey, kid } = issuer;
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(await exportJWK(publicKey))]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid, typ: "at+jwt" })
        .sign(new TextEncoder().encode(secret));
      await refused(forged, 401, invalid(otherAlgorithm));
    }
  });

  it("right audience without scope: 403", async () =>
    refused(await issuer.token("script", "", url), 403, insufficient(READ, READ)));

  it("right scope: served", async () => {
    expect(await served(await issuer.token("script", READ, url))).toBe('{"incidents":[]}');
  });

  it("step-up: 403 that names all it takes, and served with exactly that", async () => {
    const reading = await issuer.token("script", READ, url);
    const challenge = insufficient(`${READ} ${WRITE}`, WRITE);
    await refused(reading, 403, challenge, "open_incident");
    const asked = /scope="([^"]*)"/.exec(challenge)![1]!;
    expect(await served(await issuer.token("script", asked, url), "open_incident")).toContain('"id":"INC-1"');
    expect(await served(reading)).toContain("INC-1");
    await refused(reading, 403, challenge, "resolve_incident");
    const nothing = insufficient(`${READ} ${WRITE}`, `${READ} ${WRITE}`);
    await refused(await issuer.token("script", "", url), 403, nothing, "open_incident");
  });

  it("writing includes reading", async () => {
    expect(await served(await issuer.token("script", WRITE, url))).toContain("INC-1");
  });
});

describe("a person who signs in at oidc-provider", () => {
  const store = file("credentials.json");
  const redirect = loopback({ open: (page) => void browse(page).catch(() => {}) });

  async function said(auth: ReturnType<typeof oauth>, tool: string, args: Record<string, unknown>) {
    await using client = await connect({ url, auth }, { name: "ladder", version: "1.0.0" });
    const { content } = await client.callTool(tool, args);
    return content[0]?.type === "text" ? content[0].text : "";
  }

  it("reads, agrees to more to write, and is asked no more", async () => {
    const auth = oauth({ clientName: "Ladder", redirect, store: fileStore(store) });
    // The incidents of the program above are another tenant's.
    expect(await said(auth, "search_incidents", {})).toBe('{"incidents":[]}');
    expect(await said(auth, "open_incident", { title: "Stepped up", severity: "sev2" })).toContain("INC-2");
    expect(await said(auth, "search_incidents", { text: "stepped" })).toContain("INC-2");
    expect(issuer.consents).toEqual([`${READ} offline_access`, `${READ} ${WRITE} offline_access`]);
  });

  it("five processes at once: one refresh, and nobody is signed out", async () => {
    const refreshes = () => issuer.asked.filter(({ grant }) => grant === "refresh_token");
    const before = refreshes().length;
    const unattended = oauth({ clientName: "Ladder", store: fileStore(store) });
    // A token that ends at once, and then slow answers, so that all of them want another at the same time.
    issuer.lifetime = 1;
    const record = await fileStore(store).read(`grant ${url}`);
    const tokens = { ...(record!.value["tokens"] as object), issuedAt: 1, expiresAt: Date.now() - 1 };
    await fileStore(store).write(`grant ${url}`, { ...record!.value, tokens }, record!.version);
    expect(await said(unattended, "search_incidents", { text: "stepped" })).toContain("INC-2");
    expect(refreshes()).toHaveLength(before + 1);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    issuer.lifetime = 3600;
    issuer.delayMs = 300;

    const processes = Array.from({ length: 5 }, () => run(built("signed-in.ts"), [url, store]));
    await Promise.all(processes.map(({ printed }) => printed(/^ready$/m)));
    for (const { child } of processes) child.stdin.write("go\n");
    for (const { finished } of processes) {
      const { code, stdout, stderr } = await finished;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain('said {"incidents":[{"id":"INC-2"');
    }
    issuer.delayMs = 0;
    expect(refreshes()).toHaveLength(before + 2);
    // One that was used twice would have signed everybody out; this one can be used again.
    const kept = await fileStore(store).read(`grant ${url}`);
    const over = { ...(kept!.value["tokens"] as object), issuedAt: 1, expiresAt: Date.now() - 1 };
    await fileStore(store).write(`grant ${url}`, { ...kept!.value, tokens: over }, kept!.version);
    const next = oauth({ clientName: "Ladder", store: fileStore(store) });
    expect(await said(next, "search_incidents", { text: "stepped" })).toContain("INC-2");
    expect(refreshes()).toHaveLength(before + 3);
    expect(issuer.asked.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(issuer.consents).toHaveLength(2);
  });
});
