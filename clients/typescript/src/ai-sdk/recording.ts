/** Records a turn while its stream is read. */

import { finishOf, storable } from "./prompt.js";
import type { Turn, Turns } from "./turns.js";

/** Parts that are kept for a reader who is slower than the model, or has left. Beyond that the model waits. */
const MOST_WAITING = 50_000;

interface StreamPart {
  type: string;
  delta?: unknown;
  finishReason?: unknown;
}

/**
 * Passes every part on, and keeps a copy of the text. The model's stream is read to its end whoever reads on: a reader of the AI
 * SDK that leaves does not cancel it, and version 7 then reads no more of it. The last part is passed on when the turn is
 * recorded, so that a process that ends with the stream has recorded it. If the stream is aborted or cancelled before the
 * model has finished, the turn is stopped.
 */
export function recording<Part extends StreamPart>(
  stream: ReadableStream<Part>,
  turns: Turns,
  turn: Turn | undefined,
  signal: AbortSignal | undefined,
): ReadableStream<Part> {
  const reader = stream.getReader();
  const waiting: Part[] = [];
  const said: string[] = [];
  let failed = false;
  let ending: Promise<void> | undefined;
  let over: { error?: unknown } | undefined;
  let wake = (): void => {};
  let goOn = (): void => {};
  // Whoever stopped the stream listens no more: a failure is told to `onError` only.
  const stop = (): Promise<void> => (ending ??= failed ? Promise.resolve() : turns.stop(turn).catch(() => {}));
  const unlisten = (): void => signal?.removeEventListener("abort", stop);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) void stop();

  const take = async (part: Part): Promise<void> => {
    if (part.type === "text-delta" && typeof part.delta === "string") said.push(part.delta);
    if (part.type === "text-end") said.push("\n\n");
    if (part.type === "error") failed = true;
    if (part.type === "finish" && !failed && ending === undefined) {
      unlisten();
      ending = turns.finish(turn, storable(said.join("")), finishOf(part.finishReason));
      try {
        await ending;
      } catch (error) {
        ending = Promise.resolve();
        waiting.push({ type: "error", error } as unknown as Part);
      }
    }
    waiting.push(part);
    wake();
  };
  const readAll = async (): Promise<void> => {
    let end: { error?: unknown } = {};
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        await take(next.value);
        if (waiting.length >= MOST_WAITING) await new Promise<void>((resolve) => (goOn = resolve));
      }
    } catch (error) {
      end = { error };
    }
    unlisten();
    await ending;
    over = end;
    wake();
  };

  return new ReadableStream<Part>(
    {
      start() {
        void readAll();
      },
      async pull(controller) {
        while (waiting.length === 0 && over === undefined) await new Promise<void>((resolve) => (wake = resolve));
        if (waiting.length > 0) for (const part of waiting.splice(0)) controller.enqueue(part);
        else if (over !== undefined && "error" in over) throw over.error;
        else controller.close();
        goOn();
      },
      async cancel(reason) {
        unlisten();
        waiting.length = 0;
        goOn();
        await Promise.all([reader.cancel(reason), stop()]);
      },
    },
    { highWaterMark: 0 },
  );
}
