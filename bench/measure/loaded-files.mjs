/** With `--import`: names on stderr every file that a program loads, ES modules by a loader and CommonJS at the end. */
import Module, { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  register(import.meta.url);
  process.on("exit", () => {
    for (const path of Object.keys(Module._cache)) process._rawDebug(`loaded ${path}`);
  });
}

export async function load(url, context, next) {
  if (url.startsWith("file:")) process._rawDebug(`loaded ${decodeURIComponent(new URL(url).pathname)}`);
  return next(url, context);
}
