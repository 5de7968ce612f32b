/** A wire to a server: texts sent as they are, and everything that comes back as it came. Nobody speaks the protocol here. */
import type { Target } from "./target.js";

/** The first lines of an HTTP message, secrets masked. */
export type Head = readonly string[];

export type WireEvent =
  | { readonly kind: "sent"; readonly text: string; readonly head: Head | undefined }
  /** The beginning of an HTTP answer. */
  | { readonly kind: "head"; readonly head: Head; readonly status: number }
  | {
      readonly kind: "received";
      /** As it came: a line, a body, or one event of a stream with the lines around its data. */
      readonly text: string;
      /** What of it is a message of the server, if anything is. */
      readonly data: string | undefined;
      /** The status that it came under; undefined where there is no HTTP. */
      readonly status: number | undefined;
      /** Whether it belongs to no message that was sent, but to a stream that the wire opened by itself. */
      readonly isAside: boolean;
    }
  | { readonly kind: "stderr"; readonly line: string }
  /** A message got no answer, or the server is gone. */
  | { readonly kind: "failed"; readonly message: string };

export interface WireSettings {
  readonly signal: AbortSignal;
  readonly onEvent: (event: WireEvent) => void;
}

export interface Wire {
  readonly kind: "lines" | "http";
  /**
   * Sends one message, as it is. Resolves when it is sent, over HTTP when its answer has ended; false where the
   * connection is gone. Never rejects.
   */
  send(text: string): Promise<boolean>;
  /** Gives up the HTTP request with this id. Says whether there was one. */
  cancel(id: unknown): boolean;
  /** Ends the connection, and the process with everything that it started. */
  close(): Promise<void>;
}

/** @throws UsageError where the target cannot be used as it was given. */
export async function openWire(target: Target, settings: WireSettings): Promise<Wire> {
  if (target.kind === "command") {
    const { openLines } = await import("./wire-lines.js");
    return openLines(target, settings);
  }
  const { openHttp } = await import("./wire-http.js");
  return openHttp(target, settings);
}
