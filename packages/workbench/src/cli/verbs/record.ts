/** `mica record`: a server to put in the place of another, which writes down what passes. */
import { resolve } from "node:path";
import { recordCommand } from "../../engine/record-command.js";
import { recordUrl } from "../../engine/record-url.js";
import { createMasker, givenSecrets, optionSecrets } from "../../engine/secrets.js";
import { targetName } from "../../engine/target.js";
import { writeTranscript } from "../../engine/transcript.js";
import { EXIT } from "../exit.js";
import type { Answer, VerbContext } from "../verb.js";

export async function run({ target, operands, screen, signal, streams }: VerbContext): Promise<Answer> {
  const [file = ""] = operands;
  const secrets =
    target.kind === "url"
      ? givenSecrets(target.headers)
      : [...givenSecrets({ ...streams.env, ...target.env }), ...optionSecrets(target.args)];
  const masker = createMasker(secrets);
  const transcript = writeTranscript(resolve(file), targetName(target), masker);
  await screen.say(`mica: recording to ${transcript.path}`);
  let exitCode: number;
  try {
    exitCode =
      target.kind === "url"
        ? await recordUrl(target, streams, transcript, signal)
        : await recordCommand(target, streams, transcript, signal);
  } catch (error) {
    if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall?.startsWith("spawn") !== true)
      throw error;
    await screen.say(`mica: cannot start ${targetName(target)}: ${error.message}`);
    exitCode = EXIT.unreachable;
  }
  const { failure } = transcript;
  const warnings = failure
    ? [{ code: "not_recorded", message: `recording ended early: ${failure.message}` }]
    : [];
  return {
    result: {},
    print: async () => {},
    warnings,
    exitCode: failure !== undefined && exitCode === EXIT.ok ? EXIT.failed : exitCode,
  };
}
