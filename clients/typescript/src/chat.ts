/** Chat with the model of the server: messages are recorded, what is relevant is recalled, and the reply is streamed. */

import type { Connection, Opened } from "./connection.js";
import type { ChatRequest, Context, Stopped } from "./generated/schemas.js";
import type { RequestOptions } from "./options.js";
import { CloisterError } from "./errors.js";
import { own } from "./scope.js";
import { parsed, serverSentEvents } from "./streams.js";

/** What was recalled for a reply, without the conversation itself. */
export type RecalledContext = Omit<Context, "current_conversation" | "chat_history" | "memory_context">;

export interface ReplyMetadata {
  session_id: string;
  /** The stored reply, if one was stored. */
  message_id: string | null;
  status: "completed" | "partial" | "failed";
}

/** A part of the AI SDK's UI message stream, as far as the server sends it. */
export type ChatPart =
  | { type: "start"; messageId: string }
  | { type: "data-context"; id: string; data: RecalledContext }
  | { type: "text-start"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "text-end"; id: string }
  | { type: "message-metadata"; messageMetadata: ReplyMetadata }
  | { type: "finish"; messageMetadata: ReplyMetadata }
  | { type: "error"; errorText: string };

export interface Question extends Omit<ChatRequest, "messages" | "messageId"> {
  /** What the user says. */
  text: string;
}

export interface ChatOptions extends RequestOptions {
  /** Your own key of the model's endpoint, if the operator allows it. It is not stored. */
  modelKey?: string | undefined;
}

export class Chat {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Say something in a session, and read the reply while it is made. Leaving the loop, or aborting, ends the reading: the
   * reply is still completed and stored, unless `stop` is called.
   */
  async *stream(question: Question, options: ChatOptions = {}): AsyncGenerator<ChatPart, void, undefined> {
    const { text, ...rest } = own(question);
    const { modelKey, ...request } = options;
    const body: ChatRequest = { ...rest, messages: [{ role: "user", parts: [{ type: "text", text }] }] };
    yield* parts(await this.#connection.open("chat", { body, headers: { "X-Model-Key": modelKey } }, request));
  }

  /** Follow the reply that is being made in a session, from its start; no part if there is none. */
  async *follow(sessionId: string, options: RequestOptions = {}): AsyncGenerator<ChatPart, void, undefined> {
    const opened = await this.#connection.open("follow_chat", { path: { external_id: sessionId } }, options);
    if (opened.response.status === 204) opened.deadline.clear();
    else yield* parts(opened);
  }

  /** Stop the reply that is being made. What it has said is stored as `partial`. */
  async stop(sessionId: string, options: RequestOptions = {}): Promise<Stopped> {
    return await this.#connection.call("stop_chat", { path: { external_id: sessionId } }, options);
  }
}

async function* parts(opened: Opened): AsyncGenerator<ChatPart, void, undefined> {
  opened.deadline.clear();
  for await (const { data } of serverSentEvents(opened)) {
    if (data === "[DONE]") return;
    if (data !== undefined) yield parsed(data) as unknown as ChatPart;
  }
  throw new CloisterError("The stream broke before the reply was complete. It goes on at the server: follow it there.", {
    code: "connection_failed",
  });
}
