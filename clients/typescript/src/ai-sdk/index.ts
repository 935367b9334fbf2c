/** Memory for any model of the AI SDK 6 and 7: recalls before a turn, and records it when it has finished. */

import { wrapLanguageModel } from "ai";
import type { LanguageModelMiddleware } from "ai";

import { checkedOptions } from "./options.js";
import type { WithCloisterOptions } from "./options.js";
import { finishOf, questionIn, replyOf, withRecalled } from "./prompt.js";
import { recording } from "./recording.js";
import { Turns } from "./turns.js";
import type { Turn } from "./turns.js";

export type { RecordOutcome, WithCloisterOptions } from "./options.js";

type Wrapping = Parameters<typeof wrapLanguageModel>[0];

/**
 * A model with the memory of one session.
 *
 * A turn begins with a message of the user and ends with the reply. At its first step, what is related to that message is
 * recalled and put behind the system prompt, as quoted data; later steps of the turn, after tool calls, get the same text.
 * When the model has finished, the user's message and the reply are recorded, in one request: never the recalled text, the
 * system prompt or the results of tools. The stream of the model is read to its end whether or not somebody reads on. Of one
 * that is aborted or cancelled before, only the user's message is recorded. One that breaks or ends with an error records
 * nothing, nor does a turn that ends with a tool call; it is recorded when it is continued and finishes.
 */
export function withCloister(model: Wrapping["model"], options: WithCloisterOptions): ReturnType<typeof wrapLanguageModel> {
  return wrapLanguageModel({ model, middleware: cloisterMiddleware(options) });
}

/** The middleware of `withCloister`, for models that have others too. Each session needs one of its own. */
export function cloisterMiddleware(options: WithCloisterOptions): LanguageModelMiddleware {
  const turns = new Turns(checkedOptions(options));
  // Parameters as they were changed for a turn: what is recorded is taken from the turn, never from them.
  const begun = new WeakMap<object, Turn>();
  return {
    specificationVersion: "v3",
    transformParams: async ({ params }) => {
      const turn = await turns.begin(questionIn(params.prompt), params.abortSignal);
      const changed = { ...params, prompt: withRecalled(params.prompt, turn.recalled) };
      begun.set(changed, turn);
      return changed;
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      await turns.finish(begun.get(params), replyOf(result.content), finishOf(result.finishReason));
      return result;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...rest } = await doStream();
      return { ...rest, stream: recording(stream, turns, begun.get(params), params.abortSignal) };
    },
  };
}
