/** Whoever floods a channel with what is no message keeps nothing else from running: timeouts, signals, the end. */
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { connect } from "../../src/entry/client.js";
import { serveStdio } from "../../src/entry/stdio.js";

it("a server that prints without end runs into the client's timeout", { timeout: 30_000 }, async () => {
  let strays = 0;
  const target = {
    command: process.execPath,
    args: [fileURLToPath(new URL("fixtures/flood.mjs", import.meta.url))],
    onStray: () => strays++,
    closeMs: 100,
    killMs: 100,
  };
  const connecting = connect(target, { name: "t", version: "1", era: "modern", limits: { timeoutMs: 500 } });
  await expect(connecting).rejects.toMatchObject({ code: "timeout" });
  expect(strays).toBeGreaterThan(10_000);
});

it("a client that sends nonsense without end leaves timers their turn", { timeout: 60_000 }, async () => {
  const input = new PassThrough({ highWaterMark: 1 << 26 });
  const output = new PassThrough();
  let answers = 0;
  output.on("data", (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) answers++;
  });
  const service = serveStdio(
    {
      handle: () => Promise.reject(new Error("never called")),
      mirroredHeaders: () => [],
      supportedVersions: [],
      endSubscriptions() {},
    },
    { input, output },
  );
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const chunk = Buffer.from("x\n".repeat(20_000));
  for (let at = 0; at < 10; at++) input.write(chunk);
  input.end();
  await service.closed;
  clearInterval(timer);
  expect(answers).toBe(200_000);
  expect(turns).toBeGreaterThan(0);
});
