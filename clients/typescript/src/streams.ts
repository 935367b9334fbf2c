/** Lines and server-sent events of an answer, read while it arrives. Work is linear in what arrives, and memory is bounded. */

import { CloisterError } from "./errors.js";
import type { Opened } from "./connection.js";

/** Characters of one line. The longest lines are those of archives, and a reply's recalled context. */
const LONGEST_LINE = 16 * 1024 * 1024;

const MOST_DATA_LINES = 1000;

export interface ServerSentEvent {
  id: string | undefined;
  /** Undefined for a block without data, which still may carry an `id` or a `retry`. */
  data: string | undefined;
  retry: number | undefined;
}

/** The lines of a body. Ends its connection when the reader stops before the end. */
export async function* lines(opened: Opened, onData: () => void = () => {}): AsyncGenerator<string, void, undefined> {
  const reader = opened.response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let parts: string[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      onData();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      let start = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
        parts.push(text.slice(start, end));
        yield parts.join("");
        [parts, length, start] = [[], 0, end + 1];
      }
      parts.push(text.slice(start));
      length += text.length - start;
      if (length > LONGEST_LINE) throw tooLong();
      if (done) break;
    }
    const rest = parts.join("");
    if (rest !== "") yield rest;
  } catch (error) {
    throw opened.deadline.reason() ?? (error instanceof CloisterError ? error : brokenOff(error));
  } finally {
    opened.deadline.clear();
    await reader.cancel().catch(() => {});
  }
}

/** Server-sent events (WHATWG HTML, section 9.2), with the line endings that this server sends. */
export async function* serverSentEvents(
  opened: Opened,
  onData: () => void = () => {},
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let event: { id?: string; data: string[]; retry?: number } = { data: [] };
  for await (const whole of lines(opened, onData)) {
    const line = whole.endsWith("\r") ? whole.slice(0, -1) : whole;
    if (line === "") {
      yield { id: event.id, data: event.data.length > 0 ? event.data.join("\n") : undefined, retry: event.retry };
      event = { data: [] };
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data" && event.data.push(value) > MOST_DATA_LINES) throw tooLong();
    if (field === "id") event.id = value;
    else if (field === "retry" && /^\d{1,7}$/.test(value)) event.retry = Number(value);
  }
}

function tooLong(): CloisterError {
  return new CloisterError("A part of the answer is too long to be one of a Cloister.", { code: "unexpected_answer" });
}

export function brokenOff(cause?: unknown): CloisterError {
  return new CloisterError("The connection broke before the answer was complete.", { code: "connection_failed", cause });
}

/** The object in a line of JSON. */
export function parsed(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as Record<string, unknown>;
  } catch {
    // The error below says it.
  }
  throw new CloisterError("A line of the answer is not a JSON object.", { code: "unexpected_answer" });
}
