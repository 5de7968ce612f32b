/**
 * Who can speak with whom: every client with every server, over every binding, in both eras. Each cell is what came of
 * the same acts; the test prints them. The reference server has a test of its own (legacy/client/everything.test.ts).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { CLIENTS, type Driver, type Target } from "./clients.js";

type ClientName = keyof typeof CLIENTS;

/** What each server program offers, by binding: its arguments, and which eras it speaks there. */
const SERVERS = {
  Mica: {
    file: "matrix-mica",
    bindings: {
      stdio: [],
      "HTTP without sessions": ["--http"],
      "HTTP with sessions": ["--http", "--sessions"],
    },
    eras: ["modern", "legacy"],
  },
  "official 2.4": {
    file: "matrix-official-2",
    bindings: { stdio: [], "HTTP without sessions": ["--http"] },
    eras: ["modern", "legacy"],
  },
  "official 1.32": {
    file: "matrix-official-1",
    bindings: { stdio: [], "HTTP with sessions": ["--http"] },
    eras: ["legacy"],
  },
} as const;
type ServerName = keyof typeof SERVERS;

const BASICS = ["list", "call", "read", "prompt", "complete"];
const ALL = [...BASICS, "ask", "update"].join(" ");

/** What must work. An earlier client without a session can be asked nothing, and told nothing between its calls. */
function expected(server: ServerName, client: ClientName, binding: string): string {
  const { era } = CLIENTS[client];
  if (!(SERVERS[server].eras as readonly string[]).includes(era)) return "refused";
  if (era === "legacy" && binding === "HTTP without sessions") return BASICS.join(" ");
  // It leaves `resources/subscribe` to the author, and the fixture is as plain as its documentation.
  if (era === "legacy" && server === "official 2.4") return [...BASICS, "ask"].join(" ");
  return ALL;
}

const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

async function targetOf(server: ServerName, args: readonly string[]): Promise<Target> {
  const file = fileURLToPath(new URL(`fixtures/${SERVERS[server].file}.mjs`, import.meta.url));
  if (args.length === 0) return { command: process.execPath, args: [file] };
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [url] = (await once(child.stdout!, "data")) as [Buffer];
  return { url: String(url).trim() };
}

async function actsOf(driver: Driver): Promise<string> {
  const acts: Record<string, () => Promise<boolean>> = {
    list: async () => (await driver.list()).join() === "echo,confirm,touch",
    call: async () => (await driver.call("echo", { text: "zürich" })) === "zürich",
    read: async () => JSON.stringify(await driver.read("test://data")).includes('"data"'),
    prompt: async () => JSON.stringify(await driver.prompt("greet", { name: "Ada" })).includes("Greet Ada."),
    complete: async () => (await driver.complete("greet", { name: "name", value: "Al" })).join() === "Alan",
    ask: async () => (await driver.call("confirm")).includes('"yes":true'),
    async update() {
      let updated = false;
      await driver.watch("test://data", () => {
        updated = true;
      });
      await driver.call("touch");
      await expect.poll(() => updated, { timeout: 3000 }).toBe(true);
      return true;
    },
  };
  const done: string[] = [];
  for (const [name, act] of Object.entries(acts)) {
    const limit = new Promise<false>((resolve) => setTimeout(resolve, 8000, false).unref());
    if (await Promise.race([act().catch(() => false), limit])) done.push(name);
  }
  return done.join(" ");
}

it("every pair does what it must", { timeout: 240_000 }, async () => {
  const cells: { server: string; binding: string; client: string; came: string; must: string }[] = [];
  for (const server of Object.keys(SERVERS) as ServerName[]) {
    for (const [binding, args] of Object.entries(SERVERS[server].bindings)) {
      const target = await targetOf(server, args);
      await Promise.all(
        (Object.keys(CLIENTS) as ClientName[]).map(async (client) => {
          const driver = await CLIENTS[client].open(target).catch(() => undefined);
          const came = driver === undefined ? "refused" : await actsOf(driver).finally(() => driver.close());
          cells.push({ server, binding, client, came, must: expected(server, client, binding) });
        }),
      );
    }
  }
  const line = (cell: (typeof cells)[number]) =>
    `${cell.server} | ${cell.binding} | ${cell.client} | ${cell.came === ALL ? "all" : cell.came}`;
  console.log(`server | binding | client | what works\n${cells.map(line).sort().join("\n")}`);
  expect(cells).toHaveLength(35);
  expect(cells.filter(({ came, must }) => came !== must)).toEqual([]);
});
