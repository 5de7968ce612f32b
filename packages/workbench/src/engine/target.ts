/** Which server is meant: a URL, or a command to start. */

export interface UrlTarget {
  readonly kind: "url";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface CommandTarget {
  readonly kind: "command";
  readonly command: string;
  readonly args: readonly string[];
  /** Set over the few variables that a server inherits. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

export type Target = UrlTarget | CommandTarget;

/** The target as it may be shown: without user, password and query of a URL, which may be secrets. */
export function targetName(target: Target): string {
  if (target.kind === "command") return [target.command, ...target.args].map(shellWord).join(" ");
  const { origin, pathname } = new URL(target.url);
  return `${origin}${pathname}`;
}

/** A word as a shell takes it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
