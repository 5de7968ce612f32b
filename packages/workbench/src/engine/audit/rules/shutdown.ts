/** How a process ends: at the end of its input, at a signal, and with all that it started (transports/stdio, Shutdown). */
import type { Rule } from "../rule.js";
import { EXIT_MS, lifeOf } from "./life.js";

export const SHUTDOWN: readonly Rule[] = [
  {
    id: "exit-at-end-of-input",
    severity: "warning",
    section: "transports/stdio, Shutdown",
    title: "The process ends when its input ends",
    applies: "stdio",
    async run(audited) {
      const { exit } = await lifeOf(audited);
      if (exit !== undefined) return [];
      return [
        {
          message: "The process goes on after its standard input was closed",
          evidence: `still there ${EXIT_MS} ms after the end of its input`,
          fix: "End the process when stdin ends, and close timers, sockets and pools that would keep it.",
        },
      ];
    },
  },
];
