/** The floor over stdio: reads lines, answers each with a constant. */
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id } = JSON.parse(line);
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete"}}\n`);
  }
});
