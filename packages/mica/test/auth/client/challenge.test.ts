/** Reading `WWW-Authenticate`: what servers write, and what nobody should. */
import { describe, expect, it } from "vitest";
import { parseChallenges, tokenChallenge } from "../../../src/auth/client/challenge.js";

const METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource";

describe("parseChallenges", () => {
  it.each([
    ["", []],
    ["Bearer", [["bearer", {}]]],
    ["bearer  ", [["bearer", {}]]],
    ['Bearer error="invalid_token"', [["bearer", { error: "invalid_token" }]]],
    ["Bearer error=invalid_token, scope=a", [["bearer", { error: "invalid_token", scope: "a" }]]],
    ['Bearer  Scope = "a b" ,realm="x"', [["bearer", { scope: "a b", realm: "x" }]]],
    ['Bearer realm="say \\"hi\\", \\\\ok"', [["bearer", { realm: 'say "hi", \\ok' }]]],
    [
      'Bearer realm="", DPoP algs="ES256"',
      [
        ["bearer", { realm: "" }],
        ["dpop", { algs: "ES256" }],
      ],
    ],
    [
      "Bearer, DPoP",
      [
        ["bearer", {}],
        ["dpop", {}],
      ],
    ],
    [
      "Negotiate abc==, Bearer scope=a",
      [
        ["negotiate", {}],
        ["bearer", { scope: "a" }],
      ],
    ],
    ['Basic realm="x, Bearer y"', [["basic", { realm: "x, Bearer y" }]]],
    ['Bearer scope="first", scope="second"', [["bearer", { scope: "first" }]]],
    [`Bearer resource_metadata=${METADATA}`, [["bearer", { resource_metadata: METADATA }]]],
    [',, Bearer scope="a",,', [["bearer", { scope: "a" }]]],
    ['Bearer scope="never ends', [["bearer", {}]]],
    ['="x"', []],
    ['scope="without a scheme"', []],
    ["Bearer scope=", [["bearer", {}]]],
  ])("%j", (header, expected) => {
    const found = parseChallenges(header).map(({ scheme, parameters }) => [
      scheme,
      Object.fromEntries(parameters),
    ]);
    expect(found).toEqual(expected);
  });

  it("ends with whatever it is given", () => {
    const parts = ["Bearer", " ", ",", "=", '"', "\\", "a", "x=1", "\t", "==", "é"];
    for (let seed = 1; seed < 3_000; seed++) {
      let text = "";
      for (let rest = seed * 7919; rest > 0; rest = Math.floor(rest / parts.length)) {
        text += parts[rest % parts.length];
      }
      expect(Array.isArray(parseChallenges(text))).toBe(true);
    }
  });
});

describe("tokenChallenge", () => {
  it("is the one of the specification", () => {
    const header = `Bearer error="insufficient_scope",
                         scope="files:write files:read",
                         resource_metadata="${METADATA}",
                         error_description="File write permission required for this operation"`;
    expect(tokenChallenge(header.replaceAll("\n", " "))).toEqual({
      scheme: "bearer",
      error: "insufficient_scope",
      description: "File write permission required for this operation",
      scopes: ["files:write", "files:read"],
      resourceMetadata: METADATA,
    });
  });

  it("is undefined without a header, and null where other schemes are offered only", () => {
    expect(tokenChallenge(undefined)).toBeUndefined();
    expect(tokenChallenge('Basic realm="x"')).toBeNull();
  });

  it("takes the one that says what is wrong, and the metadata from wherever it stands", () => {
    expect(
      tokenChallenge(`Bearer resource_metadata="${METADATA}", DPoP error="use_dpop_nonce"`),
    ).toMatchObject({
      scheme: "bearer",
      error: "use_dpop_nonce",
      resourceMetadata: METADATA,
    });
  });

  it("demands DPoP only where nothing else is offered", () => {
    expect(tokenChallenge("DPoP algs=ES256")?.scheme).toBe("dpop");
    expect(tokenChallenge("DPoP algs=ES256, Bearer")?.scheme).toBe("bearer");
  });

  it("leaves out what is no scope", () => {
    expect(tokenChallenge('Bearer scope="a  b\\"c d"')?.scopes).toEqual(["a", "d"]);
  });
});
