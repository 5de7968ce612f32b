/**
 * From a transport to a server whose era is known (basic/versioning, Backward Compatibility). The probe goes over the
 * transport that is there; where it finds an earlier revision, a {@link Fallback} makes one that speaks it.
 */
import { McpError, ProtocolError } from "../protocol/errors.js";
import type { DiscoverResult } from "../protocol/types.js";
import type { ClientTransport } from "../transport.js";
import { aborted, abortedWith, unlessSilent } from "./deadline.js";
import { type Era, type EraBranch, findEra, legacyError, MODERN_VERSIONS } from "./era.js";
import type { Exchanger } from "./exchange.js";
import {
  type EraReport,
  type Fallback,
  forget,
  type Greeting,
  isRemembered,
  type LegacyConnection,
  remember,
} from "./fallback.js";

export interface SettleOptions {
  readonly mode: "auto" | "modern" | "legacy";
  readonly transport: ClientTransport;
  readonly fallback: Fallback | undefined;
  readonly probeTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly greeting: Greeting;
  exchangerOf(transport: ClientTransport, protocolVersion: string): Exchanger;
}

export interface SettledEra {
  readonly report: EraReport;
  readonly transport: ClientTransport;
  readonly exchanger: Exchanger;
  readonly discovered: DiscoverResult;
}

type Modern = Extract<Era, { kind: "modern" }>;
type Legacy = Extract<Era, { kind: "legacy" }>;
type Probed = { readonly era: Era } | { readonly error: unknown };
type Opened = { readonly connection: LegacyConnection } | { readonly error: unknown };

/** @throws McpError `unsupported_version`, or what keeps the server from answering. */
export async function settleEra(options: SettleOptions): Promise<SettledEra> {
  const { mode, transport, fallback, probeTimeoutMs, signal, greeting, exchangerOf } = options;
  const saw: string[] = [];
  const exchanger = exchangerOf(transport, MODERN_VERSIONS[0] as string);

  function modern({ branch, protocolVersion, discovered }: Modern): SettledEra {
    saw.push(`server/discover: ${discovered.supportedVersions.join(", ")}`);
    return {
      report: { era: "modern", revision: protocolVersion, branch, saw },
      transport,
      exchanger,
      discovered,
    };
  }

  async function legacy(
    branch: EraBranch,
    { version, remark, ...rest }: LegacyConnection,
  ): Promise<SettledEra> {
    saw.push(`initialize: ${version}${remark === undefined ? "" : ` (${remark})`}`);
    exchanger.close();
    const spoken = exchangerOf(rest, version);
    const discovered = await spoken.send("server/discover", {}, { signal }).catch(async (error: unknown) => {
      await rest.close().catch(() => {});
      throw error;
    });
    if (fallback && branch !== "forced") remember(fallback.key);
    const report: EraReport = { era: "legacy", revision: version, branch, saw };
    return { report, transport: rest, exchanger: spoken, discovered: discovered as DiscoverResult };
  }

  async function open({ open }: Fallback, giveUp: AbortSignal): Promise<Opened> {
    const { controller, release } = abortedWith(signal, giveUp);
    try {
      return { connection: await open(greeting, controller.signal, (text) => saw.push(text)) };
    } catch (error) {
      return { error: signal?.aborted ? aborted("initialize", signal) : error };
    } finally {
      release();
    }
  }

  async function speakLegacy(branch: EraBranch, by: Fallback): Promise<SettledEra> {
    const opened = await open(by, new AbortController().signal);
    if ("connection" in opened) return legacy(branch, opened.connection);
    throw opened.error;
  }

  /** Nothing has come of the probe so far. Whatever is answered first decides, and the other is dropped. */
  async function afterSilence(
    by: Fallback,
    probing: Promise<Probed>,
    stop: AbortController,
  ): Promise<SettledEra> {
    saw.push(`server/discover: no answer within ${probeTimeoutMs} ms`);
    const giveUp = new AbortController();
    const opening = open(by, giveUp.signal);
    let late: Probed | undefined;
    const isModernAfterAll = (probed: Probed | Opened): probed is { era: Modern } =>
      "era" in probed && probed.era.kind === "modern";
    void probing.then((probed) => {
      late = probed;
    });
    const first = await Promise.race([probing, opening]);
    if (isModernAfterAll(first)) {
      giveUp.abort(new McpError("aborted", "The server turned out to be a modern one"));
      const opened = await opening;
      if ("connection" in opened) opened.connection.release?.();
      return modern(first.era);
    }
    const opened = await opening;
    if ("connection" in opened) {
      const answer = late && "era" in late && late.era.kind === "legacy" ? late.era : undefined;
      if (answer) saw.push(answer.answer);
      stop.abort(new McpError("aborted", "The server turned out to be a legacy one"));
      return legacy(answer?.branch ?? "silence", opened.connection);
    }
    if (isExit(opened.error)) {
      saw.push(`the process ended: ${firstLine(opened.error)}`);
      return speakLegacy("exit", by);
    }
    // A modern server refuses `initialize`, and may still be at work on the probe.
    const answered = await probing;
    if (isModernAfterAll(answered)) return modern(answered.era);
    throw opened.error;
  }

  async function probe(): Promise<SettledEra> {
    const { controller, release } = abortedWith(signal);
    const probing = findEra(exchanger, { signal: controller.signal }).then(
      (era): Probed => ({ era }),
      (error: unknown): Probed => ({ error }),
    );
    void probing.then(release);
    const by = mode === "auto" ? fallback : undefined;
    const probed = await (by?.isProcess ? unlessSilent(probing, probeTimeoutMs) : probing);
    if (probed === undefined) return afterSilence(by as Fallback, probing, controller);
    if ("error" in probed) {
      if (!by?.isProcess || !isExit(probed.error)) throw probed.error;
      saw.push(`server/discover: ${firstLine(probed.error)}`);
      return speakLegacy("exit", by);
    }
    const { era } = probed;
    if (era.kind === "modern") return modern(era);
    saw.push(era.answer);
    if (by === undefined) throw legacyError(era);
    return speakLegacy(era.branch, by).catch((error: unknown) => {
      throw isAnswer(error) ? neither(era, error) : error;
    });
  }

  if (mode === "legacy") {
    if (fallback) return speakLegacy("forced", fallback);
    throw new TypeError('options.era: "legacy" needs a target that is a command or a URL');
  }
  if (mode === "auto" && fallback && isRemembered(fallback.key)) {
    const opened = await open(fallback, new AbortController().signal);
    if ("connection" in opened) return legacy("remembered", opened.connection);
    // What was found may not hold any more: "re-probing if the cached assumption later fails".
    if (isFinal(opened.error)) throw opened.error;
    forget(fallback.key);
    saw.push(`initialize, as before: ${firstLine(opened.error)}`);
  }
  return probe();
}

function isExit(error: unknown): boolean {
  return error instanceof McpError && error.code === "connection_lost";
}

/** Whether trying in another way would lead to the same. */
function isFinal(error: unknown): boolean {
  return !(error instanceof McpError) || ["aborted", "closed", "connect_failed"].includes(error.code);
}

/** Whether it is the server that says no. */
function isAnswer(error: unknown): error is McpError {
  const codes = ["protocol_error", "invalid_response", "unsupported_version"];
  return error instanceof McpError && codes.includes(error.code);
}

function neither({ answer, cause }: Legacy, error: McpError): McpError {
  const spoken = `this client speaks ${MODERN_VERSIONS.join(", ")}, and earlier revisions that begin with "initialize"`;
  const said = saidIn(cause);
  // Once is enough.
  const then = said === undefined ? error.message : error.message.replaceAll(said, "the same");
  return new McpError("unsupported_version", `${answer}; ${then}; ${spoken}`, {
    cause: error.cause ?? error,
  });
}

/** What the server itself said, as it stands in the message of an error. */
function saidIn(error: unknown): string | undefined {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof ProtocolError) return `${cause.message} (${cause.code})`;
  if (!(cause instanceof Error) || !("status" in cause)) return undefined;
  const { message, body } = cause as Error & { body?: unknown };
  return typeof body === "string" && body !== "" ? `${message}: ${body}` : message;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] as string;
}
