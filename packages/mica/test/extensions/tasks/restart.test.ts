/** Work that outlives its process: SQLite, several processes, and processes that are killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { type Client, connect, type Task } from "../../../src/entry/client.js";
import { textOf } from "./fixture.js";

vi.setConfig({ testTimeout: 60_000 });

const cache = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));
let folder: string;
let worker: string;
let notes: string;
let file: string;
const started: ChildProcess[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "tasks-"));
  worker = join(folder, "worker.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("./fixtures/worker.ts", import.meta.url))],
    outfile: worker,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let run = 0;
beforeEach(() => {
  run += 1;
  notes = join(folder, `notes-${run}`);
  file = join(folder, `tasks-${run}.sqlite`);
  writeFileSync(notes, "");
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(started.splice(0).map(kill));
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

interface Process {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly client: Client;
}

async function start(): Promise<Process> {
  const child = spawn(process.execPath, [worker, file, notes], { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const [url] = (await once(createInterface(child.stdout!), "line")) as [string];
  const client = await connect(url, {
    name: "test",
    version: "1.0.0",
    tasks: true,
    onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
    onWarning: () => {},
  });
  clients.push(client);
  return { child, pid: child.pid!, client };
}

/** Calls a tool, and resolves to the id of its task; what becomes of the call is not looked at. */
function begin({ client }: Process, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const onTask = ({ taskId }: Task) => resolve(taskId);
    client.callTool(name, {}, { onTask }).catch(reject);
  });
}

const noted = () => readFileSync(notes, "utf8").trim().split("\n").filter(Boolean);
const until = (condition: () => void) => vi.waitFor(condition, { timeout: 20_000, interval: 10 });

it("a task goes on in another process when its own is killed, without repeating a step", async () => {
  const first = await start();
  const taskId = await begin(first, "long");
  await until(() => expect(noted()).toEqual([`one ${first.pid}`, `two ${first.pid}`]));
  await kill(first.child);
  const second = await start();
  expect((await second.client.tasks.get(taskId)).status).toBe("working");
  writeFileSync(`${notes}.go`, "");
  const result = await second.client.tasks.wait(taskId);
  expect(textOf({ result })).toBe(`done by ${second.pid}`);
  expect(noted()).toEqual([`one ${first.pid}`, `two ${first.pid}`, `three ${second.pid}`]);
});

it("of processes that share a file, one runs a task, however long it takes", async () => {
  const first = await start();
  await start();
  const taskId = await begin(first, "long");
  // Several leases long.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  writeFileSync(`${notes}.go`, "");
  expect(textOf({ result: await first.client.tasks.wait(taskId) })).toBe(`done by ${first.pid}`);
  expect(noted()).toEqual([`one ${first.pid}`, `two ${first.pid}`, `three ${first.pid}`]);
});

it("a question is answered to another process than asked it", async () => {
  const first = await start();
  const created = await first.client.request("tools/call", { name: "ask", arguments: {} }, { fulfil: false });
  const taskId = created["taskId"] as string;
  await until(() => expect(noted()).toEqual([`before ${first.pid}`]));
  await vi.waitFor(async () => expect((await first.client.tasks.get(taskId)).status).toBe("input_required"));
  await kill(first.child);
  const second = await start();
  const result = await second.client.tasks.wait(taskId);
  expect(textOf({ result })).toBe(`Ada by ${second.pid}`);
  expect(noted()).toEqual([`before ${first.pid}`, `after ${second.pid}`]);
});

it("a task is cancelled through another process than runs it", async () => {
  const first = await start();
  const second = await start();
  const created = await first.client.request(
    "tools/call",
    { name: "long", arguments: {} },
    { fulfil: false },
  );
  const taskId = created["taskId"] as string;
  await until(() => expect(noted()).toHaveLength(2));
  await second.client.tasks.cancel(taskId);
  expect((await first.client.tasks.get(taskId)).status).toBe("cancelled");
  await until(() => expect(noted().at(-1)).toBe(`stopped ${first.pid}`));
  writeFileSync(`${notes}.go`, "");
  await expect(second.client.tasks.wait(taskId)).rejects.toMatchObject({ code: "task_cancelled" });
  expect(noted()).toHaveLength(3);
});

it("a task that ends every process that runs it is given up", async () => {
  const first = await start();
  // The answer with the handle may be lost with the process, and the task is there all the same.
  await first.client
    .request("tools/call", { name: "crash", arguments: {} }, { fulfil: false })
    .catch(() => {});
  await until(() => expect(first.child.signalCode).toBe("SIGKILL"));
  await start().catch(() => {});
  await until(() => expect(started[1]!.signalCode).toBe("SIGKILL"));
  const third = await start();
  const { taskId } = new Sqlite(file).prepare("SELECT task_id AS taskId FROM mica_tasks").get() as Task;
  await expect(third.client.tasks.wait(taskId)).rejects.toMatchObject({
    code: "protocol_error",
    message: expect.stringContaining("ended 2 times"),
  });
  expect(third.child.exitCode).toBeNull();
  expect(noted()).toHaveLength(2);
});

it("over stdio, a call finds its end, and what its process left is done by the next one", async () => {
  const connectStdio = async () => {
    const client = await connect(
      { command: process.execPath, args: [worker, file, notes, "stdio"] },
      {
        name: "test",
        version: "1.0.0",
        tasks: true,
        onElicit: () => ({ action: "accept", content: { name: "Grace" } }),
      },
    );
    clients.push(client);
    return client;
  };
  const one = await connectStdio();
  expect(textOf({ result: await one.callTool("ask") })).toMatch(/^Grace by \d+$/);
  const created = await one.request("tools/call", { name: "long", arguments: {} }, { fulfil: false });
  await until(() => expect(noted()).toHaveLength(4));
  // The end of its input ends the process, which leaves the task to others at once.
  await one.close();
  writeFileSync(`${notes}.go`, "");
  const two = await connectStdio();
  expect(textOf({ result: await two.tasks.wait(created["taskId"] as string) })).toMatch(/^done by \d+$/);
  expect(noted().filter((line) => line.startsWith("one"))).toHaveLength(1);
});
