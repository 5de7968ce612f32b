/** Tells the bench where a server listens, and how much processor time it has used whenever it asks. */
export function serve(port) {
  process.on("message", (message) => {
    if (message === "usage") {
      const { user, system } = process.cpuUsage();
      process.send({ cpuMicros: user + system, rss: process.memoryUsage.rss() });
    }
  });
  process.on("disconnect", () => process.exit(0));
  process.send({ port });
}
