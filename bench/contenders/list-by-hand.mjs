/** The floor of a command that lists tools: starts the server, asks once, prints the names. */
import { spawn } from "node:child_process";
import { request } from "../message.mjs";

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
child.stdin.write(`${JSON.stringify(request(1, "tools/list", {}))}\n`);
let rest = "";
child.stdout.on("data", (chunk) => {
  rest += chunk;
  if (!rest.includes("\n")) return;
  const { result } = JSON.parse(rest);
  process.stdout.write(result.tools.map(({ name, description }) => `${name}  ${description}\n`).join(""));
  child.stdin.end();
});
