/** What a reply was given, as the server stored it with the reply. */

import { get } from "./client";

export interface ReceiptItem {
  kind: "message" | "memory" | "entity" | "observation";
  id: string;
  session_id: string | null;
  content: string | null;
  rule: string;
  relevance: number | null;
  strength: "strong" | "weak" | null;
  role: string | null;
  author: string | null;
  user_id: string | null;
  created_at: string | null;
  same_session: boolean;
  /** Of a memory, as it is now. */
  pinned: boolean | null;
  /** The messages that a memory came from. */
  source_message_ids: string[];
  /** Whether `content` is not what the model was given: the memory was corrected since, or the entity changed. */
  is_changed: boolean;
}

export interface Sent {
  /** Whose prompt it was: the product's own, the project's, or the conversation's. */
  prompt: "default" | "project" | "session";
  placeholders: string[] | null;
}

export interface Receipt {
  id: string;
  session_id: string;
  message_id: string;
  created_at: string;
  /** Null where the conversation has left it since. */
  pool: { project_id: string | null } | null;
  /** How many items the model was given, also those that cannot be read any more. */
  given: number;
  items: ReceiptItem[];
  hidden: { another_project: number; forgotten: number };
  /** What cannot be read any more, in words. */
  summary: string[];
  sent: Sent | null;
  reply: { model: string | null; status: string; prompt_tokens: number | null; completion_tokens: number | null; total_ms: number | null } | null;
}

export interface Prompt {
  messages: { role: string; content: string }[];
  is_exact: boolean;
  missing: string[];
}

/** The receipt of a reply has the reply's number. */
export function receiptIdOf(message: string): string {
  return message.replace(/^msg_/, "rcpt_");
}

export function getReceipt(id: string, signal?: AbortSignal): Promise<Receipt> {
  return get(`/v1/receipts/${id}`, signal);
}

export function receiptPrompt(id: string, signal?: AbortSignal): Promise<Prompt> {
  return get(`/v1/receipts/${id}/prompt`, signal);
}
