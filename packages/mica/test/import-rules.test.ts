/** Who may import whom: read from the import lines of the source itself. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

interface Import {
  readonly specifier: string;
  /** Erased when the code is built. */
  readonly isType: boolean;
  readonly isDynamic: boolean;
}

interface Module {
  /** Relative to `src`, with forward slashes. */
  readonly path: string;
  readonly imports: readonly Import[];
}

function readImports(source: string): Import[] {
  const code = source.replace(/\/\*.*?\*\//gs, "").replace(/^\s*\/\/.*$/gm, "");
  const found: Import[] = [];
  // Clauses never hold quotes or semicolons.
  for (const [, keyword, clause, specifier] of code.matchAll(
    /^(import|export)\b([^"';]*?)\bfrom\s*["']([^"']+)["']/gm,
  )) {
    const names = clause?.trim() ?? "";
    const listed = /^\{([^}]*)\}$/s
      .exec(names)?.[1]
      ?.split(",")
      .map((name) => name.trim())
      .filter(Boolean);
    const isType =
      /^type\b/.test(names) ||
      (keyword === "import" &&
        listed?.length !== 0 &&
        listed?.every((name) => name.startsWith("type ")) === true);
    found.push({ specifier: specifier!, isType, isDynamic: false });
  }
  for (const [, specifier] of code.matchAll(/^import\s*["']([^"']+)["']/gm))
    found.push({ specifier: specifier!, isType: false, isDynamic: false });
  for (const [, specifier] of code.matchAll(/(?<!typeof )\bimport\(\s*["']([^"']+)["']\s*\)/g))
    found.push({ specifier: specifier!, isType: false, isDynamic: true });
  return found;
}

const modules = new Map<string, Module>();
for (const entry of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
  if (!entry.endsWith(".ts")) continue;
  const path = entry.replaceAll("\\", "/");
  modules.set(path, { path, imports: readImports(readFileSync(join(SRC, entry), "utf8")) });
}

const folderOf = (path: string) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : ".");
const isRelative = (specifier: string) => specifier.startsWith(".");
const targetOf = (from: string, specifier: string) =>
  relative(SRC, join(SRC, dirname(from), specifier.replace(/\.js$/, ".ts"))).replaceAll("\\", "/");

/** What each folder may import, besides itself. `.` is `transport.ts`, which holds nothing but types. */
const ALLOWED: Record<string, readonly string[]> = {
  protocol: [],
  schema: ["protocol"],
  bus: ["protocol"],
  server: ["protocol", "schema", "bus", "."],
  client: ["protocol", "schema", "."],
  extensions: ["protocol", "schema", "bus", "server", "client", "."],
  auth: ["protocol", "http", "."],
  testing: ["protocol", "schema", "server", "client", "bus", "stdio", "."],
};

/** What runs in browsers and workers, too. */
const WITHOUT_NODE = ["protocol", "schema", "bus", "server", "client"];

describe("imports", () => {
  it("are found", () => {
    expect(modules.size).toBeGreaterThan(50);
    const example = `import { type A, type B } from "./a.js";\nimport {\n  c,\n  type D,\n} from "pkg";\nexport type * from "./e.js";\nimport "./f.js";\nexport { g } from "./g.js";\nconst h = import("h");\n// import "./no.js";`;
    expect(readImports(example)).toEqual([
      { specifier: "./a.js", isType: true, isDynamic: false },
      { specifier: "pkg", isType: false, isDynamic: false },
      { specifier: "./e.js", isType: true, isDynamic: false },
      { specifier: "./g.js", isType: false, isDynamic: false },
      { specifier: "./f.js", isType: false, isDynamic: false },
      { specifier: "h", isType: false, isDynamic: true },
    ]);
  });

  it.each([...modules.values()].map((module) => [module.path, module] as const))(
    "of %s",
    (path, { imports }) => {
      const folder = folderOf(path);
      const allowed = ALLOWED[folder];
      for (const { specifier } of imports) {
        if (isRelative(specifier)) {
          const target = targetOf(path, specifier);
          expect({ target, exists: existsSync(join(SRC, target)) }).toEqual({ target, exists: true });
          expect(specifier).toMatch(/\.js$/);
          const targetFolder = folderOf(target);
          if (allowed === undefined || targetFolder === folder) continue;
          expect({ from: path, to: target, allowed: allowed.includes(targetFolder) }).toEqual({
            from: path,
            to: target,
            allowed: true,
          });
          if (targetFolder === ".") expect(target).toBe("transport.ts");
        } else if (WITHOUT_NODE.includes(folder)) {
          expect({ from: path, outside: specifier }).toEqual({ from: path, outside: undefined });
        }
      }
    },
  );

  it("never lead from a core folder to a binding", () => {
    const bindings = new Set(["stdio", "http", "legacy", "auth", "extensions", "entry"]);
    for (const { path, imports } of modules.values()) {
      if (
        !Object.hasOwn(ALLOWED, folderOf(path)) ||
        ["testing", "auth", "extensions"].includes(folderOf(path))
      )
        continue;
      for (const { specifier } of imports) {
        if (isRelative(specifier)) expect(bindings.has(folderOf(targetOf(path, specifier)))).toBe(false);
      }
    }
  });
});

describe("auth", () => {
  /** Of the HTTP binding: answers and metadata, and the seam of its client. Nothing that listens or connects. */
  const OF_HTTP = ["authorization", "client-auth", "fetch-outlet", "guard", "node", "node-outlet"];

  it("is two halves that share something, and know of HTTP what they need", () => {
    const half = (path: string) => path.split("/")[1]!;
    for (const { path, imports } of modules.values()) {
      if (folderOf(path) !== "auth") continue;
      for (const { specifier, isType } of imports) {
        if (!isRelative(specifier)) {
          expect(["jose", "oauth4webapi"].includes(specifier) || specifier.startsWith("node:")).toBe(true);
          continue;
        }
        const target = targetOf(path, specifier);
        if (folderOf(target) === "auth") expect([half(path), "shared"]).toContain(half(target));
        if (folderOf(target) === "http") {
          expect(OF_HTTP.map((name) => `http/${name}.ts`)).toContain(target);
          // The listener itself is a type here.
          if (target === "http/node.ts") expect(isType).toBe(true);
        }
      }
    }
  });

  it("is imported by entries alone", () => {
    for (const { path, imports } of modules.values()) {
      if (["auth", "entry"].includes(folderOf(path))) continue;
      for (const { specifier } of imports) {
        if (isRelative(specifier)) expect(folderOf(targetOf(path, specifier))).not.toBe("auth");
      }
    }
  });
});

describe("what an entry loads", () => {
  /** Everything outside of `src` that loading a module loads at once. */
  function outside(path: string, seen = new Set<string>()): Set<string> {
    const found = new Set<string>();
    if (seen.has(path)) return found;
    seen.add(path);
    for (const { specifier, isType, isDynamic } of modules.get(path)?.imports ?? []) {
      if (isType || isDynamic) continue;
      if (!isRelative(specifier)) found.add(specifier);
      else for (const inner of outside(targetOf(path, specifier), seen)) found.add(inner);
    }
    return found;
  }

  it.each(
    ["index", "stdio", "http", "fetch", "client", "testing"].filter((entry) =>
      modules.has(`entry/${entry}.ts`),
    ),
  )("%s: nothing by third parties", (entry) => {
    const loaded = [...outside(`entry/${entry}.ts`)];
    expect(loaded.filter((specifier) => !specifier.startsWith("node:"))).toEqual([]);
  });

  it("index: nothing at all", () => {
    expect([...outside("entry/index.ts")]).toEqual([]);
  });

  it("every entry is there that the package publishes", () => {
    const manifest = JSON.parse(readFileSync(join(SRC, "../package.json"), "utf8")) as {
      exports: Record<string, unknown>;
    };
    const published = Object.keys(manifest.exports).filter((name) => name !== "./package.json");
    for (const name of published) {
      const entry = name === "." ? "entry/index.ts" : `entry/${name.slice(2)}.ts`;
      expect({ entry, exists: modules.has(entry) }).toEqual({ entry, exists: true });
    }
  });
});
