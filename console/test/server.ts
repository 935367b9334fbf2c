/** A server for tests of parts that send requests: answers by method and path, each given by the test. */

import { vi } from "vitest";

type Answer = (request: { url: URL; body: unknown }) => unknown;

/** What answers with this status; its body is a problem. */
export class Refused {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly code = "unknown",
  ) {}
}

/** Requests are answered by the first entry whose text is the beginning of “GET /path?query”; what has none could not be sent. */
export function answering(answers: Record<string, Answer>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (input: string, init: RequestInit = {}) => {
    const url = new URL(input, "http://127.0.0.1");
    const line = `${init.method ?? "GET"} ${url.pathname}${url.search}`;
    asked.push(line);
    const found = Object.entries(answers).find(([beginning]) => line.startsWith(beginning));
    if (!found) throw new TypeError(`nobody answers ${line}`);
    const answer = await found[1]({ url, body: typeof init.body === "string" ? JSON.parse(init.body) : undefined });
    init.signal?.throwIfAborted();
    if (answer instanceof Refused) return Response.json({ code: answer.code, detail: answer.detail }, { status: answer.status });
    return Response.json(answer);
  });
  return asked;
}

/** An answer that is given when the test says so. */
export function later<T>(): { promise: Promise<T>; answer: (value: T) => void } {
  let answer: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    answer = resolve;
  });
  return { promise, answer };
}

/** Time for whatever waits for answers that were given already. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}
