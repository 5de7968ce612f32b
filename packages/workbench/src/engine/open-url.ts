/** Handing a URL to the browser of whoever sits here. The URL is never fetched. */
import { spawn } from "node:child_process";

/** Milliseconds in which a program that cannot open anything says so; one that runs longer has a browser open. */
const SETTLE_MS = 2_000;

/** The program that opens URLs, by platform; anywhere else `xdg-open` does. */
const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  // `start` belongs to a shell, which would read the URL's characters as its own.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens an http or https URL. No shell reads it: it is one argument of one program.
 *
 * @returns What went wrong; undefined where nothing did.
 */
export function openUrl(href: string): Promise<string | undefined> {
  const [program = "", ...args] = PROGRAMS[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, href], { detached: true, stdio: "ignore" });
    const settled = setTimeout(() => resolve(undefined), SETTLE_MS);
    const end = (problem: string | undefined) => {
      clearTimeout(settled);
      resolve(problem);
    };
    child.on("error", (error: NodeJS.ErrnoException) =>
      end(error.code === "ENOENT" ? `there is no ${program}` : error.message),
    );
    child.on("exit", (code) => end(code === 0 ? undefined : `${program} ended with exit code ${code}`));
    child.unref();
  });
}
