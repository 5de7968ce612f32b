/** Pages that a server wants to be visited before it serves a request (2025-11-25, URL Elicitation Required Error). */
import { isObject } from "../../protocol/jsonrpc.js";
import type { JSONRPCErrorResponse } from "../../protocol/types.js";
import { type InputQuestion, requiredPages, URL_ELICITATION_REQUIRED } from "./questions.js";

export interface Pages {
  /** The refusal that has not been dealt with. */
  readonly refusal: JSONRPCErrorResponse | undefined;
  /** Whether the caller knows of it. */
  readonly isAsked: boolean;
  /** Takes a refusal. Says whether it is one that goes away by visiting pages. */
  take(response: JSONRPCErrorResponse): boolean;
  /**
   * What to ask for. Undefined where the caller has agreed to everything: consent to open a page does not mean that
   * it is done with, so all that is left is to try again after a while.
   */
  ask(): Record<string, InputQuestion> | undefined;
  /** Deals with the refusal. Says whether the request can be sent again. */
  answer(answers: Record<string, unknown>): boolean;
}

export function createPages(): Pages {
  const agreed = new Set<string>();
  /** Ids of pages by the key of their question. */
  const asked = new Map<string, string>();
  let named: Map<string, InputQuestion> | undefined;
  let refusal: JSONRPCErrorResponse | undefined;
  let isAsked = false;
  let lastKey = 0;

  return {
    get refusal() {
      return refusal;
    },
    get isAsked() {
      return isAsked;
    },
    take(response) {
      const { code, data } = response.error;
      named = code === URL_ELICITATION_REQUIRED ? requiredPages(data) : undefined;
      if (named !== undefined) refusal = response;
      isAsked = false;
      return named !== undefined;
    },
    ask() {
      isAsked = true;
      const questions: Record<string, InputQuestion> = {};
      for (const [id, question] of named ?? []) {
        if (agreed.has(id)) continue;
        const key = `page-${++lastKey}`;
        asked.set(key, id);
        questions[key] = question;
      }
      return asked.size > 0 ? questions : undefined;
    },
    answer(answers) {
      const isAgreed = [...asked.keys()].every((key) => {
        const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
        return isObject(answer) && answer["action"] === "accept";
      });
      if (isAgreed) for (const id of asked.values()) agreed.add(id);
      asked.clear();
      refusal = undefined;
      return isAgreed;
    },
  };
}
