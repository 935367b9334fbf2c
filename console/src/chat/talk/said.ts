/** Messages as the chat shows them, made of those that the server stores. */

import type { ReceiptSummary } from "../../api/sessions";
import type { Context, Status, StoredMessage } from "../../api/shapes";

export interface Said {
  /** Stays the same when a message that was sent from here gets its id. */
  key: string;
  /** Null until the server has answered with it. */
  id: string | null;
  role: "user" | "assistant" | "system";
  text: string;
  /**
   * `writing`: the reply is being streamed. `sending`: the server has not confirmed the message yet. `lost`: the connection broke in the
   * middle of the reply, and the server has not stored it.
   */
  status: Status | "writing" | "sending" | "lost";
  createdAt: string | null;
  error: string | null;
  author: string | null;
  parentId: string | null;
  attachment: Attachment | null;
  /** What was recalled, while the reply is being streamed. */
  context: Context | null;
  /** What the model was given, in numbers; null where nothing is known of it. */
  receipt: ReceiptSummary | null;
}

/** A part of a file that was attached: the console records a file as messages with its name. */
export interface Attachment {
  name: string;
  part: number;
  parts: number;
}

export function newSaid(key: string, role: Said["role"], text: string, status: Said["status"]): Said {
  return { key, id: null, role, text, status, createdAt: null, error: null, author: null, parentId: null, attachment: null, context: null, receipt: null };
}

/** A stored message, under the key it was shown with before; null for what is not shown. */
export function fromStored(stored: StoredMessage, key: string = stored.id, receipt: ReceiptSummary | null = null): Said | null {
  if (stored.role === "tool") return null;
  const error = stored.metadata["error"];
  return {
    key,
    id: stored.id,
    role: stored.role,
    text: stored.content,
    status: stored.status,
    createdAt: stored.created_at,
    error: typeof error === "string" ? error : null,
    author: stored.author,
    parentId: stored.parent_id ?? null,
    attachment: attachmentOf(stored.metadata["attachment"]),
    context: null,
    receipt,
  };
}

function attachmentOf(value: unknown): Attachment | null {
  if (typeof value !== "object" || value === null) return null;
  const { name, part, parts } = value as Record<string, unknown>;
  return typeof name === "string" && typeof part === "number" && typeof parts === "number" ? { name, part, parts } : null;
}

/** The words of the user that a reply answers; null where they are not loaded. */
export function questionOf(messages: readonly Said[], reply: Said): string | null {
  const before = messages.slice(0, messages.indexOf(reply));
  return before.findLast((message) => message.role === "user" && !message.attachment)?.text ?? null;
}

/** Without the replies that a running turn is about to replace. */
export function upToTheQuestion(messages: readonly Said[]): Said[] {
  const last = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(0, last + 1);
}
