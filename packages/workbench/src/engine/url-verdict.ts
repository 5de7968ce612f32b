/** What is to be known of a URL before somebody agrees to open it (client/elicitation, Safe URL Handling). */
import { domainToUnicode } from "node:url";

export interface UrlVerdict {
  /** Exactly what would be opened: of printable ASCII only, however the server wrote it. */
  readonly href: string;
  /** With its port, as it stands in `href`. */
  readonly host: string;
  /** Where in `href` the host begins. */
  readonly hostAt: number;
  /** Why it is not opened at all; undefined where it may be. */
  readonly refusal: string | undefined;
  readonly warnings: readonly string[];
}

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** @param given A valid URL. */
export function judgeUrl(given: string): UrlVerdict {
  const url = new URL(given);
  const { href, host, hostname, protocol, username, password } = url;
  const hostAt = href.indexOf(host, href.indexOf("//") + 2 + userInfoLength(href));
  if (protocol !== "http:" && protocol !== "https:") {
    const refusal = `only http and https URLs are opened, not ${JSON.stringify(protocol)}`;
    return { href, host, hostAt, refusal, warnings: [] };
  }
  const warnings = hostWarnings(hostname);
  if (username !== "" || password !== "") {
    warnings.push(`what stands before the @ is no address; the page is at ${host}`);
  }
  if (protocol === "http:" && !LOOPBACK.test(hostname)) {
    warnings.push("the connection would not be encrypted (http); others can read and change the page");
  }
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(given)) {
    warnings.push("the server wrote it with characters that do not belong into a URL");
  }
  return { href, host, hostAt, refusal: undefined, warnings };
}

function userInfoLength(href: string): number {
  return /^[^/]*\/\/([^/?#]*@)?/.exec(href)?.[1]?.length ?? 0;
}

function hostWarnings(hostname: string): string[] {
  // "SHOULD have warnings for ambiguous/suspicious URIs (i.e., containing Punycode)".
  if (!hostname.split(".").some((label) => label.startsWith("xn--"))) return [];
  const unicode = domainToUnicode(hostname);
  const reads = unicode === "" ? "" : `, and reads ${unicode}`;
  const warnings = [
    `the host is written in Punycode${reads}; letters of other scripts can imitate a name that you know`,
  ];
  for (const label of unicode.split(".")) {
    const scripts = scriptsOf(label);
    if (isMixed(scripts)) warnings.push(`${label} mixes ${scripts.join(" and ")} letters`);
  }
  return warnings;
}

const SCRIPTS = [
  "Latin",
  "Greek",
  "Cyrillic",
  "Armenian",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Bengali",
  "Tamil",
  "Thai",
  "Georgian",
  "Cherokee",
  "Han",
  "Hiragana",
  "Katakana",
  "Bopomofo",
  "Hangul",
] as const;
const PATTERNS = SCRIPTS.map((script) => [script, new RegExp(`\\p{Script=${script}}`, "u")] as const);

function scriptsOf(label: string): string[] {
  return PATTERNS.filter(([, pattern]) => pattern.test(label)).map(([script]) => script);
}

/** Scripts that are written together (Unicode Technical Standard 39, section 5.2, highly restrictive). */
const TOGETHER: readonly (readonly string[])[] = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

function isMixed(scripts: readonly string[]): boolean {
  return scripts.length > 1 && !TOGETHER.some((set) => scripts.every((script) => set.includes(script)));
}
