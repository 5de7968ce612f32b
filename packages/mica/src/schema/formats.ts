/** The formats that strings are checked for (Validation, section 7.3). Each check takes time that grows with the length alone. */

export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map<
  string,
  (text: string) => boolean
>([
  ["date", isDate],
  ["time", (text) => isTime(text)],
  ["date-time", (text) => /^.{10}[Tt]/s.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))],
  ["duration", (text) => DURATION.test(text)],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["uri", (text) => isUriReference(text) && /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)],
  ["uri-reference", isUriReference],
  ["uuid", (text) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)],
  ["json-pointer", (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)],
  ["regex", isRegex],
]);

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** RFC 3339, section 5.6: with an offset; a leap second only where one can be. */
function isTime(text: string): boolean {
  const parts = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/.exec(text);
  if (parts === null) return false;
  const [hour, minute, second, offsetHour, offsetMinute] = [1, 2, 3, 5, 6].map((at) =>
    Number(parts[at] ?? 0),
  ) as [number, number, number, number, number];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (offsetHour * 60 + offsetMinute) * (parts[4] === "-" ? -1 : 1);
  const minuteOfDay = (((hour * 60 + minute - offset) % 1440) + 1440) % 1440;
  return minuteOfDay === 1439;
}

/** RFC 3339, appendix A. */
const DURATION =
  /^P(?:\d+W|(?=.)(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=.)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/;

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1) return false;
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  const isQuoted = /^"(?:[^"\\\r\n]|\\.)*"$/.test(local);
  const isAtom =
    /^[^\s@"(),:;<>[\\\]]+$/.test(local) &&
    !local.startsWith(".") &&
    !local.endsWith(".") &&
    !local.includes("..");
  if (!isQuoted && !isAtom) return false;
  const literal = /^\[(?:IPv6:(?<six>.*)|(?<four>.*))\]$/is.exec(domain)?.groups;
  if (literal !== undefined) {
    return literal["six"] !== undefined ? isIpv6(literal["six"]) : isIpv4(literal["four"] ?? "");
  }
  return isHostname(domain);
}

/** RFC 1123, section 2.1. */
function isHostname(text: string): boolean {
  if (text.length > 253) return false;
  return text.split(".").every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return (
    parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  );
}

/** RFC 4291, section 2.2. */
function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1);
  const endsInIpv4 = last?.includes(".") && !text.endsWith("::");
  if (endsInIpv4 && !isIpv4(groups.pop()!)) return false;
  const count = groups.length + (endsInIpv4 ? 2 : 0);
  return (
    groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
  );
}

/** RFC 3986, by its characters; whether it could be resolved is another question. */
function isUriReference(text: string): boolean {
  if (!/^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/.test(text)) return false;
  if (text.split("#").length > 2) return false;
  // Brackets belong around an IPv6 address.
  const authority = /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/([^/?#]*)/.exec(text);
  const host = authority === null ? undefined : /(?:^|@)\[([^\]]*)\](?::\d*)?$/.exec(authority[1]!);
  if (host)
    return (
      (isIpv6(host[1]!) || /^v[0-9a-f]+\./i.test(host[1]!)) && !/[[\]]/.test(text.replace(`[${host[1]}]`, ""))
    );
  if (/[[\]]/.test(text)) return false;
  if (authority !== null && !/^(?:[^@:]*(?::[^@]*)?@)?[^@:]*(?::\d*)?$/.test(authority[1]!)) return false;
  // A colon in the first segment would make it a scheme.
  const scheme = /^([^/?#]*?):/.exec(text)?.[1];
  return scheme === undefined || /^[A-Za-z][A-Za-z0-9+.-]*$/.test(scheme);
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
