/** How a process ends: at the end of its input, at a signal, and with all that it started (transports/stdio, Shutdown). */
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { EXIT_MS, lifeOf } from "./life.js";

const SECTION = "transports/stdio, Shutdown";

export const SHUTDOWN: readonly Rule[] = [
  {
    id: "exit-at-end-of-input",
    severity: "warning",
    section: SECTION,
    title: "The process ends when its input ends",
    applies: "stdio",
    async run(audited) {
      const fix = "End the process when stdin ends, and close timers, sockets and pools that would keep it.";
      const found: Found[] = [];
      const { exit } = await lifeOf(audited);
      if (exit === undefined) {
        const evidence = `still there ${EXIT_MS} ms after the end of its input`;
        found.push({ message: "The process goes on after its standard input was closed", evidence, fix });
      }
      const unheard = audited.spawn();
      unheard.endInput();
      // Its start counts in here.
      if ((await unheard.exited(audited.answerMs)) === undefined) {
        const evidence = `still there after ${audited.answerMs} ms`;
        found.push({
          message: "The process does not end where its standard input is closed from the start",
          evidence,
          fix,
        });
      }
      return found;
    },
  },
  {
    id: "exit-on-sigterm",
    severity: "note",
    section: SECTION,
    title: "The process ends at SIGTERM",
    applies: "stdio",
    async run(audited) {
      if (process.platform === "win32") throw new Inapplicable("Windows has no signals");
      const child = await audited.spawnSpoken();
      child.signal("SIGTERM");
      if ((await child.exited(EXIT_MS)) !== undefined) return [];
      return [
        {
          message: "The process goes on after SIGTERM",
          evidence: `still there ${EXIT_MS} ms after the signal`,
          fix: "Handle SIGTERM by finishing what is under way and ending, or leave it to the default.",
        },
      ];
    },
  },
  {
    id: "leaves-processes",
    severity: "note",
    section: SECTION,
    title: "What the process started ends with it",
    applies: "stdio",
    async run(audited) {
      const { exit, left } = await lifeOf(audited);
      if (left === undefined)
        throw new Inapplicable("this system does not tell which processes a process started");
      if (exit === undefined) throw new Inapplicable("the process does not end by itself");
      if (left.length === 0) return [];
      return [
        {
          message: "Processes that the server started go on after it has ended",
          evidence: left.map(({ pid, command }) => `pid ${pid}: ${command.slice(0, 200)}`).join("\n"),
          fix: "End child processes before the server ends, and give them pipes whose end they notice.",
        },
      ];
    },
  },
];
