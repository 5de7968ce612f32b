#!/usr/bin/env node
/**
 * The floor over stdio: reads lines, parses each, and answers with the text that it brought. With `--batch`, the
 * answers to one chunk leave in one write.
 */
const batch = process.argv.includes("--batch");
/** The pieces of a line whose newline has not come. */
let rest = [];

process.stdin.on("data", (chunk) => {
  const answers = [];
  let start = 0;
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
    let line = chunk.subarray(start, end);
    if (rest.length > 0) {
      line = Buffer.concat([...rest, line]);
      rest = [];
    }
    start = end + 1;
    const { id, params } = JSON.parse(line.toString("utf8"));
    const text = params?.arguments?.text ?? "";
    const result = { resultType: "complete", content: [{ type: "text", text }] };
    const answer = `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
    if (batch) answers.push(answer);
    else process.stdout.write(answer);
  }
  if (start < chunk.length) rest.push(chunk.subarray(start));
  if (answers.length > 0) process.stdout.write(answers.join(""));
});
