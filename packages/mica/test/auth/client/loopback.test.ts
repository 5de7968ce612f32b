/** Coming back from the browser: who is let in, what they read, and that nothing is left behind. */
import { request } from "node:http";
import { connect as connectSocket, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LoopbackOptions, loopback } from "../../../src/entry/auth/client.js";

const { signal } = new AbortController();
const NOTHING = () => {};

async function listening(options: Partial<LoopbackOptions> = {}, registered: string[] = []) {
  const listener = await loopback({ open: NOTHING, ...options }).listen(registered);
  let isClosed = false;
  const close = async (wentWell = true) => {
    if (!isClosed) await listener.close(wentWell);
    isClosed = true;
  };
  onTestFinished(() => close());
  return { ...listener, close };
}

it("takes the one who knows the state, and shows them how it went when that is known", async () => {
  const { uri, visit, close } = await listening({ programName: "<Mica> & co" });
  expect(uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const came = visit("https://auth.example.com/authorize", "the state", signal);
  const page = fetch(`${uri}?code=a%20b&state=the+state&iss=x`);
  expect(await came).toBe(`${uri}?code=a%20b&state=the+state&iss=x`);
  await close(true);
  const answer = await page;
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  const text = await answer.text();
  expect(text).toContain("You are signed in.");
  expect(text).toContain("&#60;Mica&#62; &#38; co");
  expect(text).not.toContain("<Mica>");
});

it("says that it did not work where it did not", async () => {
  const { uri, visit, close } = await listening();
  const came = visit("https://auth.example.com/authorize", "s", signal);
  const page = fetch(`${uri}?error=access_denied&state=s`);
  await came;
  await close(false);
  expect((await page).status).toBe(400);
});

it("others who knock change nothing, and nothing of theirs is repeated", async () => {
  const { uri, visit } = await listening();
  const { origin } = new URL(uri);
  const came = visit("https://auth.example.com/authorize", "the state", signal);
  const knock = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${origin}${path}`, init);
    expect(await answer.text()).not.toMatch(/evil|script/);
    return answer.status;
  };
  expect(await knock("/callback?code=evil&state=evil")).toBe(400);
  expect(await knock("/callback?code=evil")).toBe(400);
  expect(await knock("/callback?error=%3Cscript%3E")).toBe(400);
  expect(await knock("/callback?code=x&state=the+state", { method: "POST" })).toBe(405);
  expect(await knock("/favicon.ico")).toBe(404);
  expect(await knock("/callback/../evil")).toBe(404);
  void fetch(`${uri}?code=good&state=the+state`).catch(NOTHING);
  expect(await came).toContain("code=good");
  // Whoever comes a second time is too late.
  expect(await knock("/callback?code=again&state=the+state")).toBe(400);
});

it("stays alive whatever is sent to it", async () => {
  const { uri, visit } = await listening();
  const { port } = new URL(uri);
  const came = visit("https://auth.example.com/authorize", "s", signal);
  for (const bytes of ["\0\0\0", "GET  HTTP/9.9\r\n\r\n", "GET //[ HTTP/1.1\r\nHost: x\r\n\r\n"]) {
    await new Promise<void>((resolve) => {
      const socket = connectSocket(Number(port), "127.0.0.1", () => socket.end(bytes));
      socket.on("error", NOTHING);
      socket.on("close", () => resolve());
      socket.resume();
    });
  }
  void fetch(`${uri}?code=c&state=s`).catch(NOTHING);
  expect(await came).toContain("code=c");
});

describe("the port", () => {
  const free = async (): Promise<number> => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    return port;
  };

  it("is one that is registered, where that is free, and any else", async () => {
    const port = await free();
    const registered = [`http://127.0.0.1:${port}/callback`, "https://app.example.com/callback", "nonsense"];
    const first = await listening({}, registered);
    expect(first.uri).toBe(registered[0]);
    const second = await listening({}, registered);
    expect(second.uri).not.toBe(registered[0]);
    // Of another path, or another name, it would be another URI.
    await first.close();
    expect((await listening({ path: "/other" }, registered)).uri).not.toContain(`:${port}/`);
  });

  it("that was asked for is taken, or it is an error", async () => {
    const port = await free();
    const first = await listening({ port });
    expect(first.uri).toBe(`http://127.0.0.1:${port}/callback`);
    await expect(listening({ port })).rejects.toThrow(/EADDRINUSE/);
    await first.close();
    expect((await listening({ port })).uri).toBe(first.uri);
  });

  it("of localhost is the same on both of its addresses", async () => {
    const { uri, visit } = await listening({ host: "localhost" });
    expect(uri).toMatch(/^http:\/\/localhost:\d+\/callback$/);
    const { port } = new URL(uri);
    const came = visit("https://auth.example.com/authorize", "s", signal);
    const status = (host: string) =>
      new Promise<unknown>((resolve) => {
        request({ host, port, path: "/nothing" }, ({ statusCode }) => resolve(statusCode))
          .on("error", ({ message }) => resolve(message))
          .end();
      });
    expect(await status("127.0.0.1")).toBe(404);
    expect([404, expect.stringMatching(/EADDRNOTAVAIL|ECONNREFUSED|EAFNOSUPPORT/)]).toContainEqual(
      await status("::1"),
    );
    void fetch(`http://127.0.0.1:${port}/callback?code=c&state=s`).catch(NOTHING);
    expect(await came).toBe(`${uri}?code=c&state=s`);
  });
});

describe("when nobody comes", () => {
  it("it ends with the signal, and the port is free", async () => {
    const { uri, visit, close } = await listening();
    const giveUp = new AbortController();
    const came = visit("https://auth.example.com/authorize", "s", giveUp.signal);
    giveUp.abort(new Error("too late"));
    await expect(came).rejects.toThrow("too late");
    await close(false);
    await expect(fetch(uri)).rejects.toThrow();
  });

  it("a browser that keeps a connection open keeps nothing open", async () => {
    const { uri, close } = await listening();
    const socket = connectSocket(Number(new URL(uri).port), "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", NOTHING);
    await close();
    await closed;
  });

  it("a page that cannot be opened is a failure, whether it throws or rejects", async () => {
    for (const open of [
      () => {
        throw new Error("no browser");
      },
      () => Promise.reject(new Error("no browser")),
    ]) {
      const { visit } = await listening({ open });
      await expect(visit("https://auth.example.com", "s", signal)).rejects.toThrow("no browser");
    }
  });

  it("a program that runs until the page is closed is not waited for", async () => {
    const { uri, visit } = await listening({ open: () => new Promise<void>(NOTHING) });
    const came = visit("https://auth.example.com/authorize", "s", signal);
    void fetch(`${uri}?code=c&state=s`).catch(NOTHING);
    expect(await came).toContain("code=c");
  });
});

it.each([
  [{ open: undefined }, /^open:/],
  [{ host: "192.168.0.1" }, /^host:/],
  [{ host: 1 }, /^host:/],
  [{ port: -1 }, /^port:/],
  [{ port: 1.5 }, /^port:/],
  [{ path: "callback" }, /^path:/],
  [{ path: "/a?b" }, /^path:/],
])("misuse: %j throws", (options, message) => {
  expect(() => loopback({ open: NOTHING, ...options } as never)).toThrow(message);
});
