/**
 * The client that the official conformance suite starts, once for every scenario: with the URL of a server as its
 * argument, and the name of the scenario in its environment.
 */
import { calls } from "./client/calls.mjs";
import { signIns } from "./client/sign-in.mjs";
import { skills } from "./client/skills.mjs";

const { MCP_CONFORMANCE_SCENARIO: name = "", MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const url = process.argv.at(-1);

const scenario = calls[name] ?? signIns[name] ?? skills[name];
if (scenario === undefined) throw new Error(`There is no scenario ${JSON.stringify(name)}`);
await scenario(url, JSON.parse(context));
