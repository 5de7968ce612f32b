/** login, logout, whoami and auth, as a person or a script runs them, against servers of the SDK's own tests. */
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "mica-mcp";
import { serveHttp } from "mica-mcp/http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  authorizationServer,
  type TestAuthorizationServer,
} from "../../../mica/test/auth/client/authorization-server.js";
import { type GuardedServer, guardedServer } from "../../../mica/test/auth/client/guarded-server.js";
import { type Built, buildCommand } from "../build-command.js";
import {
  eventually,
  type Outcome,
  type RunOptions,
  runOnTerminal,
  runProgram,
  SCRIPT,
  STEERING,
  withoutOwnCodes,
} from "../run-command.js";

let built: Built;
beforeAll(async () => {
  built = await buildCommand();
});
afterAll(() => built?.remove());

let as: TestAuthorizationServer;
let server: GuardedServer;
let home: string;
let env: Record<string, string>;
beforeEach(async () => {
  as = await authorizationServer();
  server = await guardedServer(as);
  home = await mkdtemp(join(tmpdir(), "mica-home-"));
  // The browser of this person: a program that follows the page.
  const bin = join(home, "bin");
  await mkdir(bin);
  for (const name of ["xdg-open", "open"]) {
    const script = `#!${process.execPath}\nfetch(process.argv[2]).then((answer) => answer.text());\n`;
    await writeFile(join(bin, name), script);
    await chmod(join(bin, name), 0o755);
  }
  env = { MICA_CREDENTIALS: join(home, "credentials.json"), PATH: `${bin}:${process.env["PATH"]}` };
});
afterEach(() => rm(home, { recursive: true, force: true }));

const mica = (args: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
  runProgram(process.execPath, [built.path, ...args], { ...options, env: { ...env, ...options.env } });
const credentials = () => readFile(env["MICA_CREDENTIALS"]!, "utf8");

describe.skipIf(process.platform === "win32")("login", () => {
  it("signs in, and every later command is signed in", async () => {
    server.asksFor = "mcp:basic";
    const before = await mica(["tools", server.url]);
    expect(before.code).toBe(3);
    expect(before.stderr).toContain(`; mica login ${server.url} signs in`);
    const { code, stdout, stderr } = await mica(["login", server.url]);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Opening this page of 127.0.0.1:"),
    });
    expect(stdout).toMatch(/^Signed in to guarded at http/);
    expect(stdout).toContain(`issuer    ${as.issuer}\n`);
    expect(stdout).toContain("scopes    mcp:basic\n");
    expect(stdout).toMatch(/token {5}for another 60 min, refreshed by itself\n/);
    expect((await stat(env["MICA_CREDENTIALS"]!)).mode & 0o777).toBe(0o600);
    const { stdout: called } = await mica(["call", server.url, "read"]);
    expect(called).toBe("read\n");
    // And is refreshed, without anybody.
    as.tokens.clear();
    expect((await mica(["call", server.url, "read"])).stdout).toBe("read\n");
    expect(as.requestsTo("/authorize")).toHaveLength(1);
  });

  it("says so as JSON, without any token", async () => {
    const { code, stdout } = await mica(["login", server.url, "--json"]);
    expect(code).toBe(0);
    const { result, verb } = JSON.parse(stdout);
    expect(verb).toBe("login");
    expect(result).toMatchObject({
      target: server.url,
      required: true,
      account: { resource: server.url, issuer: as.issuer, isSignedIn: true },
    });
    const kept = await credentials();
    for (const token of as.tokens.keys()) {
      expect(kept).toContain(token);
      expect(stdout).not.toContain(token);
    }
  });

  it("asks nobody twice, unless it is told to or for more", async () => {
    await mica(["login", server.url]);
    await mica(["login", server.url]);
    expect(as.requestsTo("/authorize")).toHaveLength(1);
    await mica(["login", server.url, "--scope", "a", "--scope", "b"]);
    expect(as.requestsTo("/authorize").at(-1)!.query.get("scope")).toBe("a b");
    await mica(["login", server.url, "--again"]);
    expect(as.requestsTo("/authorize")).toHaveLength(3);
  });

  it("asks for what a call has lacked since", async () => {
    await mica(["login", server.url]);
    server.needs = ({ method }) => (method === "tools/call" ? ["mcp:write"] : []);
    const refused = await mica(["call", server.url, "write"]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(`it needs the scopes mcp:write; mica login ${server.url} signs in\n`);
    await mica(["login", server.url]);
    expect(as.requestsTo("/authorize")).toHaveLength(2);
    await mica(["login", server.url]);
    expect(as.requestsTo("/authorize")).toHaveLength(2);
    expect((await mica(["call", server.url, "write"])).stdout).toBe("written\n");
  });

  it("as a client that was registered beforehand, with its secret from the environment, and keeps it", async () => {
    as.metadata = { registration_endpoint: undefined };
    as.clients.set("mine", {
      clientId: "mine",
      secret: "s3cret",
      method: "client_secret_basic",
      redirectUris: [],
      metadata: {},
    });
    const secret = { env: { MICA_CLIENT_SECRET: "s3cret" } };
    const args = ["login", server.url, "--client-id", "mine"];
    const refused = await mica(args, secret);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--issuer: expected the authorization server"),
    });
    const { code, stdout, stderr } = await mica([...args, "--issuer", as.issuer], secret);
    expect({ code, stdout: stdout.includes("client    mine") }).toEqual({ code: 0, stdout: true });
    expect(stdout + stderr).not.toContain("s3cret");
    as.tokens.clear();
    expect((await mica(["call", server.url, "read"])).stdout).toBe("read\n");
  });

  it("shows the page and opens none, where it is told not to", async () => {
    let said = "";
    const running = mica(["login", server.url, "--no-open"], {
      onStart: (child) => child.stderr!.on("data", (chunk) => (said += chunk)),
    });
    const page = await eventually(() => /^ {2}(http\S+)$/m.exec(said)?.[1]);
    expect(said).toContain("Open this page of 127.0.0.1:");
    await (await fetch(page)).text();
    expect((await running).code).toBe(0);
  });

  it("shows the page where there is no browser", async () => {
    await rm(join(home, "bin"), { recursive: true });
    let said = "";
    const running = mica(["login", server.url], {
      onStart: (child) => child.stderr!.on("data", (chunk) => (said += chunk)),
    });
    const page = await eventually(() =>
      said.includes("could not be opened") ? /^ {2}(http\S+)$/m.exec(said)?.[1] : undefined,
    );
    await (await fetch(page)).text();
    expect((await running).code).toBe(0);
  });

  it("ends at Ctrl-C, and keeps nothing", async () => {
    as.answers.set("/authorize", () => "hang");
    let said = "";
    const { code, stderr } = await mica(["login", server.url], {
      onStart(child) {
        child.stderr!.on("data", (chunk) => {
          said += chunk;
          if (said.includes("Waiting for you")) child.kill("SIGINT");
        });
      },
    });
    expect(code).toBe(130);
    expect(stderr).toContain("mica: interrupted");
    expect((await mica(["whoami", server.url])).code).toBe(3);
  });

  it("that is refused there is an error in the words of the server", async () => {
    as.redirect = (parameters) => {
      parameters.delete("code");
      parameters.set("error", "access_denied");
      parameters.set("error_description", "Not\u001b[2J today.");
    };
    const { code, stderr } = await mica(["login", server.url]);
    expect(code).toBe(3);
    expect(stderr).toContain("did not authorize this (access_denied: Not\\x1b[2J today.)");
  });

  it("at a server that asks nobody says so, and so does auth", async () => {
    const open = await serveHttp(createServer({ name: "open", version: "1.0.0" }), { port: 0 });
    const login = await mica(["login", open.url]);
    const auth = await mica(["auth", open.url]);
    await open.close();
    expect(login).toMatchObject({ code: 0, stdout: `${open.url} asks nobody to sign in.\n`, stderr: "" });
    expect(auth.code).toBe(0);
    expect(auth.stdout).toContain("The server asks nobody to sign in.");
    await expect(credentials()).rejects.toThrow(/ENOENT/);
  });

  it("a header that says who calls is used in its place", async () => {
    await mica(["login", server.url]);
    await mica(["tools", server.url, "--header", "Authorization: Bearer mine"]);
    expect(server.posts().at(-1)!.headers.authorization).toBe("Bearer mine");
  });

  it.each([
    [["login", "--", "node"], /target: expected a URL: mica login is about servers/],
    [
      ["login", "http://127.0.0.1:1/mcp", "--issuer", "https://a.example"],
      /--issuer: .* expected --client-id as well/,
    ],
    [
      ["login", "http://127.0.0.1:1/mcp", "--client-metadata", "http://a.example/x"],
      /clientMetadata: expected an https URL/,
    ],
    [["login", "http://127.0.0.1:1/mcp", "--scope", "a b"], /scopes:/],
    [["login", "http://127.0.0.1:1/mcp", "--port", "0"], /--port: expected a port/],
    [["tools", "http://127.0.0.1:1/mcp", "--again"], /--again: does not apply to mica tools/],
  ])("misuse: %j", async (args, message) => {
    const { code, stderr } = await mica(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it("credentials that others can read are refused by every command", async () => {
    await mica(["login", server.url]);
    await chmod(env["MICA_CREDENTIALS"]!, 0o644);
    for (const verb of ["tools", "whoami", "logout", "login"]) {
      const { code, stderr } = await mica([verb, server.url]);
      expect({ verb, code }).toEqual({ verb, code: 3 });
      expect(stderr).toContain("expected 0600");
    }
  });
});

describe.skipIf(process.platform === "win32")("whoami and logout", () => {
  it("say who is signed in, and nobody after it", async () => {
    const nobody = await mica(["whoami", server.url]);
    expect(nobody).toMatchObject({ code: 3, stdout: `Nobody is signed in to ${server.url}.\n`, stderr: "" });
    expect((await mica(["logout", server.url])).stdout).toBe(`Nobody is signed in to ${server.url}.\n`);
    await mica(["login", server.url]);
    const known = await mica(["whoami", server.url, "--json"]);
    expect(JSON.parse(known.stdout).result.account).toMatchObject({ issuer: as.issuer, isSignedIn: true });
    const { code, stdout, stderr } = await mica(["logout", server.url]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `Signed out of ${server.url}; ${as.issuer} was told.\n`,
      stderr: "",
    });
    expect(as.tokens.size).toBe(0);
    expect((await mica(["whoami", server.url])).code).toBe(3);
    expect(await credentials()).not.toContain(server.url);
  });

  it("logout forgets what cannot be revoked, and says so", async () => {
    await mica(["login", server.url]);
    await as.close();
    const { code, stdout, stderr } = await mica(["logout", server.url]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Signed out of ${server.url}.\n` });
    expect(stderr).toContain("forgotten here, and not revoked there");
    expect((await mica(["whoami", server.url])).code).toBe(3);
  });

  it("whoami asks no server", async () => {
    await mica(["login", server.url]);
    const before = [server.received.length, as.received.length];
    await mica(["whoami", server.url]);
    expect([server.received.length, as.received.length]).toEqual(before);
  });
});

describe.skipIf(process.platform === "win32")("auth", () => {
  it("draws every rung, and keeps nothing", async () => {
    server.asksFor = "mcp:basic";
    const { code, stdout, stderr } = await mica(["auth", server.url]);
    expect(code).toBe(0);
    const rungs = [...stdout.matchAll(/^(\d+)\. (.+)$/gm)].map(([, number, title]) => `${number} ${title}`);
    expect(rungs).toEqual([
      "1 Ask without a token",
      "2 Find the metadata of the resource",
      "3 Find the metadata of the authorization server",
      "4 Be known to the authorization server",
      "5 Send the person to the authorization server",
      "6 Get tokens",
      "7 Find the metadata of the resource",
      "8 Get new tokens for the refresh token",
      "9 Give the tokens back",
    ]);
    expect(stdout).toContain('www-authenticate  Bearer scope="mcp:basic", resource_metadata=');
    expect(stdout).toContain(`= the resource is ${server.url}, and is sent as it is written`);
    expect(stdout).toContain("= scopes: mcp:basic, from the challenge");
    expect(stdout).toMatch(/^ {6}resource +http:\/\/127\.0\.0\.1:\d+\/mcp$/m);
    expect(stdout).toMatch(/^ {6}code_challenge_method +S256$/m);
    expect(stdout).toMatch(/^ {6}access_token +\[hidden, \d+ characters\]$/m);
    expect(stdout).toContain("= the server takes it: guarded 1.0.0, 2026-07-28");
    expect(stdout).toContain("The ladder holds from the first rung to the last.");
    for (const { form } of as.requestsTo("/token")) {
      for (const name of ["code", "code_verifier", "refresh_token"]) {
        const secret = form.get(name);
        if (secret) expect(stdout + stderr).not.toContain(secret);
      }
    }
    await expect(credentials()).rejects.toThrow(/ENOENT/);
    expect(as.tokens.size).toBe(0);
  });

  it("says where it is broken, after all that held", async () => {
    as.metadata = { issuer: `${as.issuer}/` };
    const { code, stdout } = await mica(["auth", server.url]);
    expect(code).toBe(3);
    expect(stdout).toContain("3. Find the metadata of the authorization server");
    expect(stdout).toContain("Broken here: No metadata of the authorization server");
    expect(stdout).not.toContain("4. ");
  });

  it("tells scripts every step", async () => {
    as.metadata = { code_challenge_methods_supported: undefined };
    const { code, stdout } = await mica(["auth", server.url, "--json"]);
    expect(code).toBe(3);
    const { result } = JSON.parse(stdout);
    expect(result).toMatchObject({ required: true, failure: { reason: "pkce_unsupported" } });
    expect(result.steps.map(({ rung }: { rung: string }) => rung)).toEqual([
      "challenge",
      "resource_metadata",
      "resource_metadata",
      "server_metadata",
    ]);
  });

  it.skipIf(SCRIPT === undefined)("is safe and fits on a terminal, whatever a server says", async () => {
    as.metadata = { "\u001b[2J\u202e": "\u001b]0;x\u0007", service_documentation: "x".repeat(300) };
    const { screen } = await runOnTerminal(
      process.execPath,
      [built.path, "auth", server.url, "--verbose"],
      env,
    );
    const shown = withoutOwnCodes(screen);
    expect(shown).not.toMatch(STEERING);
    const drawn = shown.split("\n").filter((line) => /^ {6}\S/.test(line));
    expect(drawn.length).toBeGreaterThan(20);
    expect(Math.max(...drawn.map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
