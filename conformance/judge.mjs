/** What came of a scenario: passed, failed, or not run by the suite itself. */

/** The suite adds this check to every scenario; it says nothing of what the scenario is about. */
const WIRE = "wire-schema-valid";

/**
 * Passed means that the suite says so with its exit code, that at least one check of the scenario itself succeeded and
 * none failed, and that a client ended as it meant to: the suite lets some clients crash.
 *
 * @param mayBeSkipped whether the suite skips this scenario whatever the other side does; otherwise skipping is failing
 * @returns {{ outcome: "passed" | "failed" | "not run", why: string[], warnings: string[], succeeded: number }}
 */
export function judge({ exitCode, checks, output }, mayBeSkipped) {
  const own = (checks ?? []).filter(({ id }) => id !== WIRE);
  const of = (status) => (checks ?? []).filter((check) => check.status === status);
  const warnings = of("WARNING").map(say);
  const succeeded = own.filter(({ status }) => status === "SUCCESS").length;
  const verdict = (outcome, why) => ({ outcome, why, warnings, succeeded });

  if (checks === undefined) return verdict("failed", [`the suite made no checks: ${lastLineOf(output)}`]);
  const failures = [...of("FAILURE").map(say), ...crashIn(output)];
  if (failures.length > 0) return verdict("failed", failures);
  const skipped = own.filter(({ status }) => status === "SKIPPED").map(say);
  if (succeeded === 0 && skipped.length > 0 && skipped.length === own.length)
    return verdict(mayBeSkipped ? "not run" : "failed", [...new Set(skipped)]);
  if (exitCode !== 0)
    return verdict("failed", [`the suite ended with ${exitCode ?? "a signal"}`, ...warnings]);
  if (succeeded === 0) return verdict("failed", ["no check of the scenario itself succeeded"]);
  return verdict("passed", []);
}

function say({ id, errorMessage, details, description }) {
  return `${id}: ${errorMessage ?? details?.message ?? description}`;
}

function lastLineOf(output) {
  return output.trim().split("\n").at(-1);
}

/** How a client ended, and the line in which it said why; nothing where it ended well. */
function crashIn(output) {
  const ended = /Client (?:exited with code \d+|timed out).*/.exec(output)?.[0];
  const said = /^.*\w*Error\b.*:.*$/m.exec(output)?.[0];
  return ended === undefined ? [] : said === undefined ? [ended] : [ended, said];
}
