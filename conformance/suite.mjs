/** The official conformance suite: installed from npm at one version, asked what it has, and run scenario by scenario. */
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const VERSION = "0.2.0-alpha.12";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "node_modules", ".cache", "conformance");
const installed = join(folder, "node_modules", "@modelcontextprotocol", "conformance");
const program = join(installed, "dist", "index.js");

/** Milliseconds for one scenario; the suite itself gives a client 30 seconds. */
const DEADLINE_MS = 120_000;

/** Installs the suite, once. */
export function installSuite() {
  if (existsSync(program) && readJson(join(installed, "package.json")).version === VERSION) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const { status } = spawnSync(
    "npm",
    [
      "install",
      `@modelcontextprotocol/conformance@${VERSION}`,
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ],
    { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" },
  );
  if (status !== 0 || !existsSync(program))
    throw new Error(`@modelcontextprotocol/conformance@${VERSION} could not be installed from npm`);
}

/**
 * Every scenario of the suite, as it lists them: which leg it is of, and at which revisions it runs.
 *
 * @returns {{ leg: "server" | "client" | "authorization", name: string, revisions: string[] }[]}
 */
export function listScenarios(node) {
  const found = [];
  let leg;
  for (const line of read(node, ["list"])) {
    leg = /^(\w+)(?: server)? scenarios/.exec(line)?.[1].toLowerCase() ?? leg;
    const [, name, revisions] = /^ {2}- (\S+) \[(.+)\]$/.exec(line) ?? [];
    if (name !== undefined) found.push({ leg, name, revisions: revisions.split(",") });
  }
  if (found.length === 0) throw new Error("The suite lists no scenarios");
  return found;
}

/** What a revision requires, by leg: scenarios that are scored, and those that run with it without a score. */
export function listRequirements(node, revision) {
  const scored = new Set();
  const unscored = new Set();
  let leg;
  for (const line of read(node, ["list", "--requirements", revision])) {
    leg = /^(\w+) scenarios/.exec(line)?.[1].toLowerCase() ?? (/^\S/.test(line) ? undefined : leg);
    const [, name, of] = /^ +- (\S+)(?: \[(\w+)\])?$/.exec(line) ?? [];
    if (name === undefined) continue;
    if (of !== undefined) unscored.add(`${of} ${name}`);
    else if (leg !== undefined) scored.add(`${leg} ${name}`);
  }
  if (scored.size === 0) throw new Error(`The suite lists no requirements of ${revision}`);
  return { scored, unscored };
}

/**
 * Runs one scenario.
 *
 * @param {string} target what the suite is pointed at: `--url URL` or `--command COMMAND`, as two arguments
 * @returns the suite's exit code (undefined where it was stopped), its checks (undefined where it made none), its output
 */
export async function runScenario(node, { leg, name, revision }, target) {
  const results = mkdtempSync(join(tmpdir(), "mica-conformance-"));
  try {
    const args = [leg, ...target, "--scenario", name, "--spec-version", revision, "--force", "-o", results];
    const child = spawn(node, [program, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    const timer = setTimeout(() => child.kill(), DEADLINE_MS);
    const exitCode = await new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? undefined));
    });
    clearTimeout(timer);
    const [checks] = readdirSync(results, { recursive: true }).filter((path) => /checks\.json$/.test(path));
    return { exitCode, checks: checks && readJson(join(results, checks)), output };
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

function read(node, args) {
  const { status, stdout, stderr } = spawnSync(node, [program, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`conformance ${args.join(" ")} failed with status ${status}:\n${stderr}`);
  return stdout.split("\n");
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
