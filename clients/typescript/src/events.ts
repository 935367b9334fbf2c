/** The events of a tenant, as they happen. */

import type { Connection } from "./connection.js";
import { CloisterError, isCloisterError } from "./errors.js";
import { refuseUnknown } from "./options.js";
import { parsed, serverSentEvents } from "./streams.js";
import { pause } from "./waiting.js";

/** The server sends something every 15 seconds; a stream that is silent for longer is dead. */
const MILLISECONDS_OF_SILENCE = 45_000;
const LONGEST_DELAY = 30;

export interface SessionEvent {
  type: "session.created" | "session.changed" | "session.deleted" | "message.added" | "turn.started" | "turn.finished";
  /** For `lastEventId`. */
  id: string;
  session_id: string;
  project_id: string | null;
  user_id: string | null;
  created_at: string;
  message_ids?: string[];
  status?: "completed" | "partial" | "failed";
}

/** `ready`: the stream has begun. `reset`: events were missed, so load again what you show. */
export interface StreamEvent {
  type: "ready" | "reset";
  id: string;
}

export type CloisterEvent = SessionEvent | StreamEvent;

export interface EventOptions {
  signal?: AbortSignal | undefined;
  /** Only the sessions of this user. */
  userId?: string;
  /** Begin after the event with this id. */
  lastEventId?: string | undefined;
}

/**
 * Follow events. A stream that breaks is opened again after the last event that was received, so that none is lost; if the
 * server no longer knows it, there is a `reset`. Ends with an error when the first connection fails, or when the key may
 * no longer read; with the signal's reason when that aborts; and when the loop is left.
 */
export async function* follow(
  connection: Connection,
  options: EventOptions,
): AsyncGenerator<CloisterEvent, void, undefined> {
  refuseUnknown(options, ["signal", "userId", "lastEventId"], "events");
  let last = options.lastEventId;
  let delay = 2;
  let failures = 0;
  for (let isFirst = true; ; isFirst = false) {
    try {
      for await (const event of stream(connection, options, last)) {
        failures = 0;
        last = event.id ?? last;
        delay = event.retry === undefined ? delay : event.retry / 1000;
        if (event.data !== undefined) yield { ...parsed(event.data), id: last ?? "" } as CloisterEvent;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFirst && last === options.lastEventId) throw error;
      if (!isPassing(error)) throw error;
      failures += 1;
    }
    await pause(Math.min(delay * 2 ** Math.max(0, failures - 1), LONGEST_DELAY), options.signal);
  }
}

async function* stream(
  connection: Connection,
  options: EventOptions,
  last: string | undefined,
): ReturnType<typeof serverSentEvents> {
  const silence = new AbortController();
  const signal = options.signal === undefined ? silence.signal : AbortSignal.any([options.signal, silence.signal]);
  // A user that is there and undefined is refused, as in every request.
  const query = "userId" in options ? { user_id: options.userId as string } : {};
  const headers: Record<string, string> = last === undefined ? {} : { "Last-Event-ID": last };
  const opened = await connection.open("follow_events", { query }, { signal }, headers);
  opened.deadline.clear();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(silent()), MILLISECONDS_OF_SILENCE);
  };
  heard();
  try {
    yield* serverSentEvents(opened, heard);
  } finally {
    clearTimeout(timer);
  }
}

function silent(): CloisterError {
  return new CloisterError("The stream of events fell silent.", { code: "connection_failed" });
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  return isCloisterError(error) && (error.status === undefined || error.status === 429 || error.status >= 500);
}
