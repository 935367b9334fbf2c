/** Memory for any model of the AI SDK 6 and 7: recalls before a turn, and records it when it has finished. */

import { wrapLanguageModel } from "ai";
import type { LanguageModelMiddleware } from "ai";

import { refuseUnknown } from "../options.js";
import type { WithCloisterOptions } from "./options.js";
import { finishOf, questionIn, replyOf, storable, withRecalled } from "./prompt.js";
import { Turns } from "./turns.js";
import type { Turn } from "./turns.js";

export type { RecordOutcome, WithCloisterOptions } from "./options.js";

type Wrapping = Parameters<typeof wrapLanguageModel>[0];

const KNOWN = ["client", "session", "mode", "newSession", "context", "onError", "onRecord"];
const MODES = ["both", "recall", "record"];

/**
 * A model with the memory of one session.
 *
 * A turn begins with a message of the user and ends with the reply. At its first step, what is related to that message is
 * recalled and put behind the system prompt, as quoted data; later steps of the turn, after tool calls, get the same text.
 * When the model has finished, the user's message and the reply are recorded, in one request: never the recalled text, the
 * system prompt or the results of tools. Of a stream that is aborted or left, only the user's message is recorded. One that
 * breaks or ends with an error records nothing, nor does a turn that ends with a tool call; it is recorded when it is
 * continued and finishes.
 */
export function withCloister(model: Wrapping["model"], options: WithCloisterOptions): ReturnType<typeof wrapLanguageModel> {
  return wrapLanguageModel({ model, middleware: cloisterMiddleware(options) });
}

/** The middleware of `withCloister`, for models that have others too. Each session needs one of its own. */
export function cloisterMiddleware(options: WithCloisterOptions): LanguageModelMiddleware {
  refuseUnknown(options, KNOWN, "withCloister");
  if (options.mode !== undefined && !MODES.includes(options.mode)) {
    throw new TypeError(`withCloister: \`mode\` must be one of ${MODES.join(", ")}.`);
  }
  const turns = new Turns(options);
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

interface StreamPart {
  type: string;
  delta?: unknown;
  finishReason?: unknown;
}

/**
 * Passes every part on, and keeps a copy of the text. The last part is passed on when the turn is recorded, so that a
 * process that ends with the stream has recorded it. If the stream is aborted, or the reader leaves, the turn is stopped.
 */
function recording<Part extends StreamPart>(
  stream: ReadableStream<Part>,
  turns: Turns,
  turn: Turn | undefined,
  signal: AbortSignal | undefined,
): ReadableStream<Part> {
  const reader = stream.getReader();
  const said: string[] = [];
  let failed = false;
  let ending: Promise<void> | undefined;
  // Whoever stopped the stream listens no more: a failure is told to `onError` only.
  const stop = (): Promise<void> => (ending ??= failed ? Promise.resolve() : turns.stop(turn).catch(() => {}));
  const end = (): void => signal?.removeEventListener("abort", stop);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) void stop();
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        let next: Awaited<ReturnType<typeof reader.read>>;
        try {
          next = await reader.read();
        } catch (error) {
          end();
          await ending;
          throw error;
        }
        if (next.done) {
          end();
          await ending;
          return controller.close();
        }
        const part = next.value;
        if (part.type === "text-delta" && typeof part.delta === "string") said.push(part.delta);
        if (part.type === "text-end") said.push("\n\n");
        if (part.type === "error") failed = true;
        if (part.type === "finish" && !failed && ending === undefined) {
          end();
          ending = turns.finish(turn, storable(said.join("")), finishOf(part.finishReason));
          try {
            await ending;
          } catch (error) {
            ending = Promise.resolve();
            controller.enqueue({ type: "error", error } as unknown as Part);
          }
        }
        controller.enqueue(part);
      },
      async cancel(reason) {
        end();
        await Promise.all([reader.cancel(reason), stop()]);
      },
    },
    { highWaterMark: 0 },
  );
}
