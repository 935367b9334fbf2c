/** Messages as the chat shows them, made of those the server keeps. */

import type { UIMessage } from "ai";

import type { Context, Status, StoredMessage } from "../api/shapes";

export interface About {
  message_id?: string | null;
  status?: Status;
  created_at?: string;
  error?: string;
}

export type Said = UIMessage<About, { context: Context }>;

export function fromStored(stored: StoredMessage, context: Context | undefined): Said | null {
  if (stored.role === "tool") return null;
  const error = stored.metadata["error"];
  return {
    id: stored.id,
    role: stored.role,
    metadata: {
      message_id: stored.id,
      status: stored.status,
      created_at: stored.created_at,
      ...(typeof error === "string" ? { error } : {}),
    },
    parts: [
      ...(context ? [{ type: "data-context" as const, id: "context", data: context }] : []),
      { type: "text" as const, text: stored.content },
    ],
  };
}

export function wordsOf(message: Said): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function contextOf(message: Said): Context | undefined {
  const part = message.parts.findLast((each) => each.type === "data-context");
  return part?.data;
}

/** Without the replies that a running turn is about to replace. */
export function upToTheQuestion(messages: readonly Said[]): Said[] {
  const last = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(0, last + 1);
}
