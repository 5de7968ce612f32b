/** Who is measured. `earlier` marks those that speak the initialize era, `version` the revision where it is not the last of it; `full` those that a quick run leaves out. */

/** Servers over HTTP; the first is the floor. */
export const HTTP_SERVERS = [
  { name: "raw node:http", file: "contenders/http-raw", required: true },
  { name: "mica", file: "contenders/http-mica", required: true },
  { name: "official 2.4, best case", file: "contenders/http-official" },
  { name: "official 2.4, as documented", file: "contenders/http-official-documented", full: true },
  { name: "sdk 1.32", file: "contenders/http-sdk1", earlier: true, full: true },
  { name: "mcp-lite", file: "peers/http-mcp-lite", earlier: true, version: "2025-06-18", full: true },
  { name: "fastmcp", file: "peers/http-fastmcp", earlier: true, full: true },
];

/** Servers over stdio; the first is the floor. */
export const STDIO_SERVERS = [
  { name: "line echo, write each", file: "contenders/stdio-echo", required: true },
  { name: "line echo, batched", file: "contenders/stdio-echo", args: ["--batch"], required: true },
  { name: "mica", file: "contenders/stdio-mica-zod", required: true },
  { name: "official 2.4", file: "contenders/stdio-official" },
  { name: "sdk 1.32", file: "contenders/stdio-sdk1", earlier: true, full: true },
  { name: "fastmcp", file: "peers/stdio-fastmcp", earlier: true, full: true },
];

export const forRun = (contenders, quick) => contenders.filter(({ full }) => !(quick && full));
