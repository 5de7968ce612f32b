/**
 * The server that the official conformance suite drives: a little of everything, by the names that its scenarios call.
 * Prints the URL of its endpoint; ends with its standard input.
 */
import { createServer } from "mica-mcp";
import { serveHttp } from "mica-mcp/http";
import { skills } from "mica-mcp/skills";
import { tasks } from "mica-mcp/tasks";
import { defineAskingTools } from "./server/asking.mjs";
import { defineEarlierTools } from "./server/earlier.mjs";
import { definePrompts } from "./server/prompts.mjs";
import { defineResources } from "./server/resources.mjs";
import { pdfProcessing } from "./server/skills.mjs";
import { defineTasks } from "./server/tasks.mjs";
import { defineTools } from "./server/tools.mjs";

const server = createServer({
  name: "everything",
  version: "1.0.0",
  extensions: [tasks(), skills([await pdfProcessing()])],
});

defineTools(server);
defineAskingTools(server);
defineEarlierTools(server);
defineTasks(server);
defineResources(server);
definePrompts(server);

// One endpoint for both revisions; sessions, so that clients of the earlier one can be asked for input.
const { url, close } = await serveHttp(server, { port: 0, legacy: { sessions: {} } });
console.log(url);

process.stdin.on("end", close).resume();
