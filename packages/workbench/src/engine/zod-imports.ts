/**
 * `import { z } from "zod"` gives an object that holds all of zod, languages included, and a bundler has to keep it
 * all; `import * as z from "zod"` gives the same names, of which it keeps what is used: 85 kB in place of 450. So the
 * one is read as the other, in the author's own files.
 */
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import type { Loader, Plugin } from "esbuild";

const BETWEEN = /(?:\s+|;|#![^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(["'])use strict\1)/y;
const IMPORT = /import\s*(?:([^"';]*?)\s*from\s*)?(["'])([^"']+)\2/y;
/** The entries of zod that export `z`. */
const ZOD = /^zod(?:\/v4|\/mini|\/v4-mini)?$/;

export const zodImports: Plugin = {
  name: "zod-imports",
  setup(build) {
    build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, ({ path }) => {
      if (/[\\/]node_modules[\\/]/.test(path)) return undefined;
      const text = readFileSync(path, "utf8");
      const rewritten = withNamespaceImports(text);
      return rewritten === text ? undefined : { contents: rewritten, loader: loaderFor(path) };
    });
  },
};

/** The text with its imports of `z` changed. Only the imports at its beginning are read, where nothing else can look like one. */
export function withNamespaceImports(text: string): string {
  let rewritten = "";
  let copied = 0;
  let at = 0;
  for (;;) {
    BETWEEN.lastIndex = IMPORT.lastIndex = at;
    if (BETWEEN.test(text)) {
      at = BETWEEN.lastIndex;
      continue;
    }
    const found = IMPORT.exec(text);
    if (found === null) return rewritten + text.slice(copied);
    const [statement, clause = "", , from = ""] = found;
    const changed = ZOD.test(from) ? namespaceImport(clause, from) : undefined;
    if (changed !== undefined) {
      rewritten += text.slice(copied, at) + changed;
      copied = at + statement.length;
    }
    at += statement.length;
  }
}

function namespaceImport(clause: string, from: string): string | undefined {
  const names = /^\{([^}]*)\}$/
    .exec(clause)?.[1]
    ?.split(",")
    .map((name) => name.trim());
  const z = names?.find((name) => /^z(?:\s+as\s+[\w$]+)?$/.test(name));
  if (names === undefined || z === undefined) return undefined;
  const rest = names.filter((name) => name !== "" && name !== z);
  const source = JSON.stringify(from);
  const others = rest.length > 0 ? `;import { ${rest.join(", ")} } from ${source}` : "";
  return `import * as ${z.split(/\s+/).at(-1)} from ${source}${others}`;
}

function loaderFor(path: string): Loader {
  const extension = extname(path).replace(/^\.[cm]?/, "");
  return extension as "js" | "jsx" | "ts" | "tsx";
}
