/** What must not stand in an answer, and how it is recognized: stack traces, paths, addresses, connection strings, secrets. */

export interface Match {
  readonly text: string;
  readonly index: number;
}

/** The first place, or undefined. `known` are texts that whoever asked has anyway. */
export type Recognizer = (text: string, known: (part: string) => boolean) => Match | undefined;

/** Texts that are longer are looked at up to here. */
const MOST_CHARACTERS = 200_000;

function recognizer(
  patterns: readonly RegExp[],
  isHarmless: (part: string) => boolean = () => false,
): Recognizer {
  return (whole, known) => {
    const text = whole.slice(0, MOST_CHARACTERS);
    for (const pattern of patterns) {
      for (const match of text.matchAll(pattern)) {
        if (!known(match[0]) && !isHarmless(match[0])) return { text: match[0], index: match.index };
      }
    }
    return undefined;
  };
}

/** Node, Python, Java, Go, Rust, .NET, PHP, Ruby. */
export const stackTrace = recognizer([
  /^[ \t]+at [^\n]{0,200}?(?:file:\/\/|node:|\/|[A-Za-z]:\\)[^\n]{0,300}?:\d+:\d+\)?/gm,
  /Traceback \(most recent call last\)/g,
  /^[ \t]*File "[^"\n]{1,300}", line \d+/gm,
  /^[ \t]+at [\w$.<>]{1,200}\((?:[\w$]{1,100}\.(?:java|kt|scala):\d+|Native Method|Unknown Source)\)/gm,
  /\bgoroutine \d+ \[[a-z ]{1,40}\]:/g,
  /\bthread '[^'\n]{1,80}' (?:\(\d+\) )?panicked at /g,
  /^[ \t]+at [^\n]{1,200} in [^\n]{1,300}:line \d+/gm,
  /^#\d+ \/[^\n(]{1,300}\(\d+\):/gm,
  /^[ \t]*from \/[^\n:]{1,300}\.rb:\d+:in /gm,
]);

/** Of a file, on a machine; URIs are no paths. */
export const absolutePath = recognizer([
  /(?<![\w:/.~%-])\/(?:home|Users|root|var|opt|srv|usr|etc|tmp|mnt|private)\/[\w@+-][\w.@+-]*(?:\/[\w.@+-]+)*/g,
  // What a container has at its root, and an address on the web may have as well: files only.
  /(?<![\w:/.~%-])\/(?:app|workspace|data|code|build|src)(?:\/[\w.@+-]+)*\/[\w@+-][\w@+-]*\.[A-Za-z]\w{0,5}\b/g,
  /\b[A-Za-z]:\\(?:[\w .@+-]{1,80}\\)+[\w.@+-]{1,80}/g,
]);

/** RFC 1918, loopback with a port, link-local. */
export const privateAddress = recognizer([
  /(?<![\w.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2})(?::\d{2,5})?(?![\w.]*\d)/g,
  /(?<![\w.])(?:127(?:\.\d{1,3}){3}|localhost|\[?::1\]?):\d{2,5}\b/g,
]);

const SCHEMES =
  "postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|nats|ldaps?";

export const connectionString = recognizer([
  new RegExp(`\\b(?:jdbc:)?(?:${SCHEMES})://[^\\s"'<>\`]{3,300}`, "gi"),
  /\b(?:Server|Data Source|Host)=[^;\n]{1,100};[^\n]{0,200}\b(?:Password|Pwd)=[^;\s]{1,100}/gi,
]);

/** Only where somebody's password stands in it: in ordinary texts the rest may be an example. */
export const connectionPassword = recognizer(
  [
    new RegExp(
      `\\b(?:jdbc:)?(?:${SCHEMES}|https?|ftp)://[^\\s:/@"'<>\`]{1,100}:[^\\s/@"'<>\`]{1,100}@[^\\s"'<>\`]{1,200}`,
      "gi",
    ),
  ],
  (part) =>
    /:\/\/[^:]*:(?:[*x.]+|<[^>]*>|\$\{?\w+\}?|\{\w+\}|%s|\[[^\]]*\]|pass(?:word|wd)?|pwd|secret|token|your[\w-]*|example|redacted|changeme)@/i.test(
      part,
    ) || /@(?:[\w-]+\.)*example(?:\.(?:com|org|net))?\b/i.test(part),
);

/** Formats that are nothing but secrets. */
export const secret = recognizer(
  [
    /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g,
    /\bgh[pousr]_[A-Za-z0-9]{36,}\b/g,
    /\bgithub_pat_[A-Za-z0-9_]{50,}\b/g,
    /\bglpat-[A-Za-z0-9_-]{20,}/g,
    /\bsk-(?:proj-|ant-[a-z0-9]+-|live-)?[A-Za-z0-9_-]{32,}/g,
    /\b[rs]k_live_[A-Za-z0-9]{20,}/g,
    /\bxox[abeoprs]-[A-Za-z0-9-]{20,}/g,
    /\bAIza[A-Za-z0-9_-]{35}\b/g,
    /\bnpm_[A-Za-z0-9]{36}\b/g,
    /\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,45}\b/g,
    /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s*[A-Za-z0-9+/=\\]{16}/g,
  ],
  (part) => /EXAMPLE|x{8}|X{8}|0{8}|1234567890|\.{3}/.test(part),
);

/** A secret as it may be reported: recognized by whoever has it, of no use to others. */
export function masked(text: string): string {
  const shownLength = Math.min(8, Math.floor(text.length / 4));
  return `${text.slice(0, shownLength)}... (${text.length} characters)`;
}

/** A connection string without the password in it. */
export function withoutPassword(text: string): string {
  return text.replace(/(:\/\/[^:/@\s]*:)[^/@\s]+@/, "$1***@").replace(/((?:Password|Pwd)=)[^;\s]+/i, "$1***");
}
