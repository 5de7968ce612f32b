/** Who may ask from where: `Origin` and `Host`, against pages that rebind names (transports/streamable-http, Security & Endpoint). */
import { type Found, Inapplicable, type Rule } from "../rule.js";
import { sentAndSeen } from "../wire/raw.js";
import { ordinary } from "./ordinary.js";

const SECTION = "transports/streamable-http, Security & Endpoint";
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export const HTTP_ORIGIN: readonly Rule[] = [
  {
    id: "http-origin",
    severity: "error",
    section: SECTION,
    title: "A request from a page of somebody else is refused with 403",
    applies: "http",
    unsigned: true,
    async run(audited) {
      const found: Found[] = [];
      for (const origin of ["https://attacker.example", "null"]) {
        const exchange = await audited.raw(ordinary(audited), { Origin: origin });
        const status = exchange.http?.status ?? 0;
        // Before 2025-11-25 it was not said with which status; a server may also ask for a token first.
        const isEarlier = audited.era === "legacy" && audited.speaking.revision < "2025-11-25";
        if (status === 403 || (isEarlier && status >= 400) || (audited.isLocked && status === 401)) continue;
        const isServed = status < 400;
        found.push({
          message: isServed
            ? `A request with Origin: ${origin} is served`
            : `A request with Origin: ${origin} is not refused with 403`,
          evidence: `Origin: ${origin}\n${sentAndSeen(exchange)}`,
          fix: "Answer 403 unless the origin is one of those that are allowed.",
        });
      }
      return found;
    },
  },
  {
    id: "http-host",
    severity: "note",
    section: SECTION,
    title: "On this machine, a request for another host is refused",
    applies: "http",
    unsigned: true,
    async run(audited) {
      if (audited.target.kind !== "url" || !LOOPBACK.test(new URL(audited.target.url).hostname))
        throw new Inapplicable("it is about servers on this machine");
      const exchange = await audited.raw(ordinary(audited), { Host: "attacker.example" });
      const status = exchange.http?.status ?? 0;
      if (status >= 400) return [];
      return [
        {
          message: "A request for the host attacker.example is served",
          evidence: `Host: attacker.example\n${sentAndSeen(exchange)}`,
          fix: "Refuse every Host that is none of the server's: a name that is rebound to 127.0.0.1 comes without an Origin of its own.",
        },
      ];
    },
  },
];
