/** `mica load`: one request over and over, and what became of it. */
import { clientSender } from "../../engine/load/client-sender.js";
import { type LoadResult, runLoad } from "../../engine/load/run.js";
import { checkLocal, type LoadSubject, safeRequest } from "../../engine/load/safe-request.js";
import { failureOfResult, type Sender } from "../../engine/load/sender.js";
import { EXIT } from "../exit.js";
import { type LoadReport, printLoad } from "../load-text.js";
import { type MeasuringOptions, MOST_REQUESTS } from "../measuring-options.js";
import type { Answer, VerbContext, VerbWarning } from "../verb.js";

const DEFAULT_SECONDS = 10;
const DEFAULT_CONNECTIONS = 8;
/** In an open loop it is only a bound. */
const DEFAULT_IN_FLIGHT = 1_000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** Whichever comes first ends the warming up. */
const WARM_UP = { seconds: 1, requests: 1_000, connections: 16 };

export async function run(context: VerbContext): Promise<Answer> {
  const { target, operands, options, givenArguments, signal, report, open } = context;
  const { measuring, allowWrites, timeoutMs } = options;
  checkLocal(target, measuring.allowRemote);
  const given = await givenArguments();
  const recorder =
    target.kind === "url"
      ? (await import("../../engine/load/recorded-request.js")).recordRequests(new URL(target.url).protocol)
      : undefined;
  const server = await open(recorder?.agent);
  const { tool, method } = { tool: operands[0], method: measuring.method };
  const call = { signal, timeoutMs };
  const subject = await safeRequest(server.client, { tool, method, given, allowed: allowWrites }, call);
  // Once in the ordinary way: what fails here would fail every time, and what is sent is what is sent then.
  const first = await server.client.request(subject.method, subject.params, { ...call, fulfil: false });
  const makeSender = async (): Promise<Sender> => {
    const recorded = recorder?.last(subject.method);
    if (target.kind === "command" || recorded === undefined)
      return clientSender(server.client, subject, call);
    const { httpSender } = await import("../../engine/load/http-sender.js");
    return httpSender(new URL(target.url), recorded, timeoutMs ?? DEFAULT_TIMEOUT_MS);
  };
  const plan = planOf(measuring);
  const warmedBy = subject.isReadOnly ? await warmUp(await makeSender(), plan.connections, signal) : 0;
  const load = await runLoad(await makeSender(), {
    ...plan,
    signal,
    onProgress: (seconds, answered) =>
      report?.({ progressToken: 0, progress: seconds, total: plan.seconds, message: `${answered} answered` }),
  });
  const result: LoadReport = {
    binding: target.kind === "url" ? "http" : "stdio",
    method: subject.method,
    tool: subject.tool,
    loop: plan.rate === undefined ? "closed" : "open",
    connections: plan.connections,
    rate: plan.rate ?? null,
    warmUpRequests: warmedBy + 1,
    ...load,
  };
  return {
    result,
    warnings: warningsOf(subject, first, load),
    print: (screen) => printLoad(screen, result),
    exitCode: exitCode(load),
  };
}

function planOf({ connections, rate, seconds, requests }: MeasuringOptions) {
  const duration = seconds ?? DEFAULT_SECONDS;
  return {
    connections: connections ?? (rate === undefined ? DEFAULT_CONNECTIONS : DEFAULT_IN_FLIGHT),
    rate,
    seconds: duration,
    requests: requests ?? MOST_REQUESTS,
  };
}

/** @returns how many requests that took */
async function warmUp(sender: Sender, connections: number, signal: AbortSignal): Promise<number> {
  const { sent } = await runLoad(sender, {
    seconds: WARM_UP.seconds,
    requests: WARM_UP.requests,
    connections: Math.min(connections, WARM_UP.connections),
    rate: undefined,
    signal,
    onProgress: () => {},
  });
  return sent;
}

function warningsOf(subject: LoadSubject, first: object, load: LoadResult): VerbWarning[] {
  const warnings: VerbWarning[] = [];
  const failure = failureOfResult(first);
  if (failure !== undefined) {
    warnings.push({
      code: "request_fails",
      message: `${subject.tool ?? subject.method}: ${failure.message}`,
    });
  }
  if (load.stopped !== null) warnings.push({ code: "stopped", message: `ended early: ${load.stopped}` });
  if (load.client.limited) {
    const message =
      load.client.utilization === null
        ? "requests left later than they were due: this machine, and not the server, may have set the pace"
        : "mica itself was busy nearly all the time: the server may serve more than it was asked";
    warnings.push({ code: "client_limited", message });
  }
  if (load.unsent > 0) {
    const message = `${load.unsent} requests were due and never sent, because too many were in flight: what is said of latencies leaves them out`;
    warnings.push({ code: "unsent", message });
  }
  return warnings;
}

function exitCode({ stopped, failed, unanswered, unsent }: LoadResult): number {
  if (stopped !== null) return EXIT.unreachable;
  return failed + unanswered + unsent > 0 ? EXIT.missed : EXIT.ok;
}
