/** Finding secrets in what is shown or kept: tokens, passwords, keys. What is found is masked, not measured. */
import { isObject } from "./json.js";

export const MASK = "***";

/** Names of members and headers whose text is a secret, without their punctuation. */
const SECRET_NAMES = new Set([
  "authorization",
  "proxyauthorization",
  "cookie",
  "setcookie",
  "dpop",
  "xapikey",
  "apikey",
  "token",
  "accesstoken",
  "refreshtoken",
  "idtoken",
  "bearertoken",
  "authtoken",
  "sessiontoken",
  "clientsecret",
  "clientassertion",
  "secret",
  "secretkey",
  "privatekey",
  "password",
  "passwd",
  "passphrase",
]);

/** Texts that are secrets wherever they stand: credentials of HTTP, JSON Web Tokens, keys by their known beginnings. */
const SECRET_TEXTS: readonly RegExp[] = [
  /(?<=\b(?:Bearer|Basic|DPoP)\s+)[\w.~+/=-]{8,}/gi,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,})/g,
  /(?<=[?&](?:access_token|refresh_token|id_token|token|api_key|apikey|key|client_secret|password|code)=)[^&\s"'#]+/gi,
];

/** Whether the value of a header or member of this name is a secret. @example isSecretName("X-API-Key") // true */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name.toLowerCase().replace(/[^a-z0-9]/g, ""));
}

/** The same for a variable of the environment. @example isSecretVariable("DB_PASSWORD") // true */
export function isSecretVariable(name: string): boolean {
  return isSecretName(name) || /(?:TOKEN|SECRET|PASSWORD|API_?KEY|PRIVATE_KEY|CREDENTIALS?)$/i.test(name);
}

/** Replaces known secrets, and what looks like one. */
export interface Masker {
  text(text: string): string;
  /** Every text of a JSON value, and every text member with the name of a secret. */
  value(value: unknown): unknown;
  header(name: string, value: string): string;
}

/** @param known Secrets that were given on the command line: masked wherever they turn up. */
export function createMasker(known: readonly string[]): Masker {
  // Short ones would be found in ordinary words.
  const given = known.filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  const text = (from: string): string => {
    let masked = from;
    for (const secret of given) masked = masked.replaceAll(secret, MASK);
    for (const pattern of SECRET_TEXTS) masked = masked.replace(pattern, MASK);
    return masked;
  };
  const value = (from: unknown): unknown => {
    if (typeof from === "string") return text(from);
    if (Array.isArray(from)) return from.map(value);
    if (!isObject(from)) return from;
    return Object.fromEntries(
      Object.entries(from).map(([name, member]) => [
        name,
        typeof member === "string" && member !== "" && isSecretName(name) ? MASK : value(member),
      ]),
    );
  };
  return {
    text,
    value,
    header: (name, given) => (isSecretName(name) ? MASK : text(given)),
  };
}

/** Values of options with the name of a secret: `--api-key VALUE`, `--token=VALUE`. */
export function optionSecrets(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    const [, name, value] = /^--?([\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    return name !== undefined && isSecretName(name) ? [value ?? args[at + 1] ?? ""] : [];
  });
}

/** The secrets of a command line: values of headers with the name of a secret, and of variables likewise. */
export function givenSecrets(pairs: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(pairs).flatMap(([name, value = ""]) => {
    const isSecret = isSecretVariable(name);
    // The scheme of an Authorization header is no secret, what follows it is one also where it stands alone.
    return isSecret ? [value, value.replace(/^\S+\s+/, "")] : [];
  });
}
