/** Tells the bench where a server listens, and how its memory stands whenever it asks. */
export function serve(port, path = "/mcp") {
  process.on("message", (message) => {
    if (message !== "memory") return;
    // Twice: what the first leaves to finalizers, the second collects.
    globalThis.gc?.();
    globalThis.gc?.();
    process.send(process.memoryUsage());
  });
  process.on("disconnect", () => process.exit(0));
  process.send({ port: Number(port), path });
}
