/** What is said of a URL before anybody agrees to open it. */
import { describe, expect, it } from "vitest";
import { judgeUrl } from "../../src/engine/url-verdict.js";

describe("a URL", () => {
  it.each([
    ["https://pay.example.com/a?b=1#c", "pay.example.com"],
    ["https://example.com:8443/", "example.com:8443"],
    ["http://127.0.0.1:3000/x", "127.0.0.1:3000"],
    ["http://[::1]:3000/", "[::1]:3000"],
    ["http://app.localhost/", "app.localhost"],
    // The host's name elsewhere in the URL is not the host.
    ["https://s.example/https://s.example", "s.example"],
  ])("of the usual kind is shown as it is: %s", (url, host) => {
    const verdict = judgeUrl(url);
    expect(verdict).toMatchObject({ href: url, host, refusal: undefined, warnings: [] });
    expect(verdict.href.slice(verdict.hostAt)).toMatch(
      new RegExp(`^${host.replace(/[[\].]/g, "\\$&")}(?![\\w.-])`),
    );
    expect(verdict.href.slice(0, verdict.hostAt)).toMatch(/^https?:\/\/$/);
  });

  it.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "vscode://x",
    "ftp://example.com/",
    "mailto:a@b.ch",
  ])("of another scheme is refused: %s", (url) => {
    const scheme = JSON.stringify(new URL(url).protocol);
    expect(judgeUrl(url).refusal).toBe(`only http and https URLs are opened, not ${scheme}`);
  });

  it.each([
    ["https://xn--pple-43d.com/", ["reads \u0430pple.com", "mixes Latin and Cyrillic letters"]],
    // Written in its own letters, it is the same host.
    ["https://\u0430pple.com/", ["reads \u0430pple.com", "mixes Latin and Cyrillic letters"]],
    ["https://b\u00fccher.example/", ["reads b\u00fccher.example"]],
    // Every letter Cyrillic: not mixed, and all the more alike.
    ["https://\u0430\u0440\u0440\u04cf\u0435.com/", ["reads \u0430\u0440\u0440\u04cf\u0435.com"]],
    ["https://\u30d6\u30e9\u30f3\u30c9\u540d.example/", ["reads"]],
    ["https://user:pass@evil.example/", ["the page is at evil.example"]],
    ["https://bank.example@evil.example/", ["the page is at evil.example"]],
    ["http://example.com/", ["not be encrypted"]],
    ["https://exa\tmple.com/", ["do not belong into a URL"]],
    ["https:\\\\example.com\\x", ["do not belong into a URL"]],
    ["https://example.com/\u202egpj", ["do not belong into a URL"]],
  ])("is warned of: %s", (url, words) => {
    const { warnings, refusal, href } = judgeUrl(url);
    expect(refusal).toBeUndefined();
    expect(warnings).toHaveLength(words.length);
    for (const [index, word] of words.entries()) expect(warnings[index]).toContain(word);
    // What is shown, and opened, cannot hide anything.
    expect(href).toMatch(/^[\x21-\x7e]+$/);
  });

  it("with somebody's name before its host has that set apart", () => {
    const { href, host, hostAt } = judgeUrl("https://evil.example@evil.example:8443/evil.example");
    expect([href.slice(0, hostAt), href.slice(hostAt, hostAt + host.length)]).toStrictEqual([
      "https://evil.example@",
      "evil.example:8443",
    ]);
    expect(judgeUrl("https://evil.example@evil.example/").hostAt).toBe("https://evil.example@".length);
  });
});
