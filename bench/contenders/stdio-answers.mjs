/** A server by hand for clients under measurement: lines, no checks. */
import { resultOf } from "./answers.mjs";

let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.id === undefined) continue;
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message) })}\n`,
    );
  }
});
process.stdin.on("end", () => process.exit(0));
