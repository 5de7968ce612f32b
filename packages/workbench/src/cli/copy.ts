/** `mica call --copy`: prints a call, and does not make it. */
import { prepareCall } from "../engine/call.js";
import { type CallToCopy, curlCommand, micaCommand, vitestFile } from "../engine/copy-call.js";
import { keptAuth } from "../engine/credentials.js";
import type { CopyForm, Options } from "./options.js";
import type { Answer, VerbContext, VerbWarning } from "./verb.js";

const FORMS = { curl: curlCommand, mica: micaCommand, vitest: vitestFile } as const;

export async function copy(as: CopyForm, context: VerbContext): Promise<Answer> {
  const { target, operands, options, givenArguments, open } = context;
  const [name = ""] = operands;
  const given = await givenArguments();
  const { client, call } = await open();
  const { tool, args } = await prepareCall(client, name, given, call);
  const toCopy: CallToCopy = {
    target,
    client,
    tool: name,
    args,
    inputSchema: tool.inputSchema as Record<string, unknown>,
    given,
    optionWords: optionWords(options),
    isSignedIn: (await keptAuth(target)) !== undefined,
  };
  const { text, variables } = FORMS[as](toCopy);
  const warnings: VerbWarning[] = variables.map((variable) => ({
    code: "secret_left_out",
    message: `$${variable} stands for a secret; set it before use`,
  }));
  if (as !== "mica" && (options.answers.length > 0 || options.answersFile !== undefined)) {
    warnings.push({
      code: "answers_left_out",
      message: "answers to questions are not part of what is printed",
    });
  }
  return { result: { as, text, variables }, warnings, print: (screen) => screen.out.write(text) };
}

/** What else matters to a call, as words of a command line. */
function optionWords(options: Options): string[] {
  const { answers, answersFile, decline, ask, open, roots, out, era, timeoutMs } = options;
  const words = answers.flatMap(({ name, text, raw }) => ["--answer", `${name}${raw ? ":=" : "="}${text}`]);
  if (answersFile !== undefined) words.push("--answers", answersFile);
  if (decline) words.push("--decline");
  if (!ask) words.push("--no-ask");
  if (!open) words.push("--no-open");
  for (const root of roots) words.push("--root", root);
  if (out !== undefined) words.push("--out", out);
  if (era !== undefined) words.push("--era", era);
  if (timeoutMs !== undefined) words.push("--timeout", String(timeoutMs / 1000));
  return words;
}
