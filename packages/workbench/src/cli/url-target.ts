/** For verbs that are about a URL only. */
import type { Target, UrlTarget } from "../engine/target.js";
import { UsageError } from "../engine/usage-error.js";

/** @throws UsageError where it is a command. */
export function urlTarget(target: Target, verb: string): UrlTarget {
  if (target.kind === "url") return target;
  const message = `expected a URL: mica ${verb} is about servers that ask who calls, and a command runs as you`;
  throw new UsageError(`target: ${message}`, [{ path: "target", message }]);
}
