/** The floor for clients: a keep-alive agent of node:http or bare lines, one JSON.stringify and one JSON.parse a call. */
import { spawn } from "node:child_process";
import { Agent, request as send } from "node:http";
import { headersOf, request } from "../message.mjs";

export async function open({ url, command }) {
  let lastId = 0;
  const lines = command && overLines(command);
  const agent = new Agent({ keepAlive: true });
  const call = (method, params) => {
    const message = request(++lastId, method, params);
    return lines ? lines.exchange(message) : overHttp(url, agent, message);
  };
  return {
    callTool: (name, args) => call("tools/call", { name, arguments: args }),
    readResource: (uri) => call("resources/read", { uri }),
    listTools: () => call("tools/list", {}),
    close: () => lines?.close(),
  };
}

function overHttp(url, agent, message) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(message);
    const headers = { ...headersOf(message), "content-length": Buffer.byteLength(body) };
    const outgoing = send(url, { method: "POST", headers, agent }, (incoming) => {
      const chunks = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")).result));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function overLines([file, ...args]) {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const all = (rest + chunk).split("\n");
    rest = all.pop();
    for (const line of all) {
      const { id, result } = JSON.parse(line);
      waiting.get(id)(result);
      waiting.delete(id);
    }
  });
  return {
    exchange: (message) =>
      new Promise((resolve) => {
        waiting.set(message.id, resolve);
        child.stdin.write(`${JSON.stringify(message)}\n`);
      }),
    close: () => child.stdin.end(),
  };
}
