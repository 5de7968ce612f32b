/**
 * Modules of Node, loaded where they are first needed. In one file, imports that stood in late parts would all be made
 * at its start; and an import of a module of Node reads every getter of it, which loads far more than is used:
 * `node:http` takes up to ten times as long by `import` as by `process.getBuiltinModule`.
 */
import { isBuiltin } from "node:module";
import type { Plugin } from "esbuild";

const NAMESPACE = "builtin-module";

export const builtinModules: Plugin = {
  name: NAMESPACE,
  setup(build) {
    build.onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path, kind }) => {
      if (kind === "entry-point" || !isBuiltin(path)) return undefined;
      return { path: path.startsWith("node:") ? path : `node:${path}`, namespace: NAMESPACE };
    });
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};
