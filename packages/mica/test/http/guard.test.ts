import { describe, expect, it } from "vitest";
import { createGuard, isLoopback } from "../../src/http/guard.js";

describe("Host", () => {
  const guard = createGuard({});

  it.each(["localhost", "localhost:3000", "LOCALHOST", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:65535"])(
    "admits %s by default",
    (host) => {
      expect(guard([host], undefined)).toBeUndefined();
    },
  );

  it.each([
    "evil.example.com",
    "evil.example.com:3000",
    "localhost.evil.example.com",
    "localhost.",
    "127.0.0.1.",
    "127.0.0.2",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0.0.0.0",
    "::1",
    "[::1",
    "[::ffff:127.0.0.1]",
    "localhost@evil.example.com",
    "evil.example.com@localhost",
    "user:pass@localhost",
    "localhost:3000@evil.example.com",
    "localhost:",
    "localhost:x",
    "localhost:123456",
    "localhost/evil",
    "localhost#evil",
    "localhost?evil",
    "localhost\\evil",
    " localhost",
    "localhost, evil.example.com",
    "localhost evil.example.com",
    "locаlhost",
    "",
  ])("refuses %j and names the option or the form", (host) => {
    expect(guard([host], undefined)).toMatch(/allowedHosts|is not a host name with an optional port/);
  });

  it("refuses a request that names no host", () => {
    expect(guard([], undefined)).toBe("The request names no Host");
  });

  it("wants every name of the request to be allowed", () => {
    expect(guard(["localhost", "127.0.0.1:3000"], undefined)).toBeUndefined();
    expect(guard(["localhost", "evil.example.com"], undefined)).toMatch(/allowedHosts/);
    expect(guard(["evil.example.com", "localhost"], undefined)).toMatch(/allowedHosts/);
  });

  it("is not fooled by having admitted another host before", () => {
    const fresh = createGuard({});
    expect(fresh(["localhost"], undefined)).toBeUndefined();
    expect(fresh(["evil.example.com"], undefined)).toMatch(/allowedHosts/);
    expect(fresh(["evil.example.com"], undefined)).toMatch(/allowedHosts/);
  });

  it("takes named hosts instead of loopback, with one port or any", () => {
    const named = createGuard({ allowedHosts: ["MCP.example.com", "internal:8443"] });
    expect(named(["mcp.example.com"], undefined)).toBeUndefined();
    expect(named(["mcp.example.com:444"], undefined)).toBeUndefined();
    expect(named(["internal:8443"], undefined)).toBeUndefined();
    expect(named(["internal:8444"], undefined)).toMatch(/expected mcp.example.com, internal:8443/);
    expect(named(["internal"], undefined)).toMatch(/allowedHosts/);
    expect(named(["localhost"], undefined)).toMatch(/allowedHosts/);
  });

  it('checks nothing with "any"', () => {
    const open = createGuard({ allowedHosts: "any" });
    expect(open(["whatever.example"], undefined)).toBeUndefined();
    expect(open([], undefined)).toBeUndefined();
  });

  it.each([["https://mcp.example.com"], ["mcp.example.com/mcp"], ["*.example.com"], [""]])(
    "throws for the entry %j",
    (entry) => {
      expect(() => createGuard({ allowedHosts: [entry] })).toThrow(/allowedHosts must hold entries like/);
    },
  );

  it("throws for a single string that is not any", () => {
    expect(() => createGuard({ allowedHosts: "localhost" as "any" })).toThrow(
      /allowedHosts must be a list or "any", got "localhost"/,
    );
  });
});

describe("Origin", () => {
  const guard = createGuard({});
  const judge = (origin: string, by = guard): string | undefined => by(["localhost"], origin);

  it.each([
    "http://localhost",
    "http://localhost:6274",
    "https://localhost:6274",
    "http://127.0.0.1:5173",
    "http://[::1]:5173",
    "HTTP://LOCALHOST",
  ])("admits %s where only loopback hosts are allowed", (origin) => {
    expect(judge(origin)).toBeUndefined();
  });

  it.each([
    "null",
    "",
    "https://evil.example.com",
    "http://localhost.evil.example.com",
    "http://localhost@evil.example.com",
    "http://evil.example.com#localhost",
    "http://localhost:3000/",
    "http://localhost:3000/path",
    "http://localhost, http://evil.example.com",
    "file://",
    "ftp://localhost",
    "localhost",
    "//localhost",
    "http://127.0.0.2",
  ])("refuses %j and names the option", (origin) => {
    expect(judge(origin)).toMatch(/allowedOrigins/);
  });

  it("admits what is listed, exactly, besides loopback", () => {
    const named = createGuard({ allowedOrigins: ["https://app.example.com", "vscode-webview://abc"] });
    expect(judge("https://app.example.com", named)).toBeUndefined();
    expect(judge("vscode-webview://abc", named)).toBeUndefined();
    expect(judge("http://localhost:1", named)).toBeUndefined();
    expect(judge("http://app.example.com", named)).toMatch(/allowedOrigins/);
    expect(judge("https://app.example.com:8443", named)).toMatch(/allowedOrigins/);
    expect(judge("https://app.example.com.evil.example", named)).toMatch(/allowedOrigins/);
  });

  it("does not admit loopback pages where other hosts are allowed", () => {
    const remote = createGuard({ allowedHosts: ["mcp.example.com"] });
    expect(remote(["mcp.example.com"], "http://localhost:3000")).toMatch(/allowedOrigins/);
    expect(remote(["mcp.example.com"], "https://mcp.example.com")).toMatch(/allowedOrigins/);
    const any = createGuard({ allowedHosts: "any" });
    expect(any(["x"], "http://localhost:3000")).toMatch(/allowedOrigins/);
  });

  it('admits every origin but null with "any"', () => {
    const open = createGuard({ allowedOrigins: "any" });
    expect(judge("https://evil.example.com", open)).toBeUndefined();
    expect(judge("null", open)).toMatch(/allowedOrigins/);
  });

  it.each(["app.example.com", "https://app.example.com/", "null", "*"])(
    "throws for the entry %j",
    (entry) => {
      expect(() => createGuard({ allowedOrigins: [entry] })).toThrow(/allowedOrigins must hold entries like/);
    },
  );
});

describe("isLoopback", () => {
  it.each([
    ["localhost", true],
    ["127.0.0.1", true],
    ["127.0.0.2", true],
    ["::1", true],
    ["[::1]", true],
    ["0.0.0.0", false],
    ["::", false],
    ["192.168.1.2", false],
    ["127.0.0.1.example.com", false],
  ])("%s: %s", (host, loopback) => {
    expect(isLoopback(host)).toBe(loopback);
  });
});
