import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^mica-mcp$/, replacement: source("packages/mica/src/entry/index.ts") },
      { find: /^mica-mcp\/(.+)$/, replacement: `${source("packages/mica/src/entry")}/$1.ts` },
    ],
  },
  test: {
    include: ["packages/*/test/**/*.test.ts", "servers/*/test/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
