/** Drives one client: opens it as `BENCH_OPTIONS` says, then repeats a verb whenever the bench asks. */
import { options } from "../message.mjs";

const { open } = await import(`./${options.client}.mjs`);
const client = await open(options.target);

const VERBS = {
  callTool: () => client.callTool("echo", { text: "hello", times: 2, loud: true }),
  readResource: () => client.readResource("bench://greeting"),
  listTools: () => client.listTools(),
};

process.on("message", async ({ verb, inFlight, ms }) => {
  const call = VERBS[verb];
  const began = performance.now();
  let calls = 0;
  const one = async () => {
    do {
      const result = await call();
      if (result === undefined || result.isError)
        throw new Error(`${verb} was answered ${JSON.stringify(result)}`);
      calls++;
    } while (performance.now() - began < ms);
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  process.send({ calls, seconds: (performance.now() - began) / 1000 });
});
process.on("disconnect", async () => {
  await client.close();
  process.exit(0);
});
process.send("open");
