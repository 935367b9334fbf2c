/** Waiting that a caller can end. */

/** A signal that aborts when the caller's does, and after a time unless it is cleared before. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #outer: AbortSignal | undefined;

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    const own = new AbortController();
    this.#outer = outer;
    this.signal = outer === undefined ? own.signal : AbortSignal.any([outer, own.signal]);
    this.#timer = setTimeout(() => {
      own.abort(new DOMException(`There was no answer in ${milliseconds} ms.`, "TimeoutError"));
    }, milliseconds);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  /** What the caller's signal says, if it has aborted. */
  reason(): unknown {
    return this.#outer?.aborted ? this.#outer.reason : undefined;
  }
}

/** Wait, or throw the reason of the signal. */
export async function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
