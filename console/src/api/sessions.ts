/** Conversations: their fields, their messages, their branches, and what is hidden from their recall. */

import { all, get, patch, post, remove, sessionPath, withQuery } from "./client";
import type { Page, Session, StoredMessage } from "./shapes";

/** What the badge of a reply says: how much the model was given, and whether its prompt had room for any of it. */
export interface ReceiptSummary {
  id: string;
  message_id: string;
  given: number;
  strong: number;
  weak: number;
  placeholders: boolean;
}

export interface MessagePage extends Page<StoredMessage> {
  previous_cursor?: string | null;
  receipts?: ReceiptSummary[];
}

export interface Exclusion {
  kind: "message" | "memory" | "entity";
  id: string;
  content: string;
  /** Null for an entity, which belongs to a project. */
  session_id: string | null;
  /** When it was hidden. */
  created_at: string;
}

export type SessionChange = Partial<Pick<Session, "title" | "project_id" | "pinned" | "archived" | "system_prompt" | "model">>;

/** The session, or null if there is none: asked so that a missing one is no error. */
export async function findSession(id: string, signal?: AbortSignal): Promise<Session | null> {
  const page = await get<Page<Session>>(withQuery("/v1/sessions", { external_id: id }), signal);
  return page.data[0] ?? null;
}

export function createSession(fields: SessionChange & { external_id: string }): Promise<Session> {
  return post<Session>("/v1/sessions", fields);
}

export function changeSession(id: string, change: SessionChange): Promise<Session> {
  return patch<Session>(sessionPath(id), change);
}

/** Have the model name a conversation by its first exchange. Only this title is replaced: any other stays. */
export function titleSession(id: string, replaces: string): Promise<Session> {
  return post<Session>(sessionPath(id, "/title"), { replaces });
}

/** A page of the current branch: the last one, the one before a message, or the one around it. */
export function messagePage(id: string, which: { before: string } | { around: string } | { cursor: string }, limit: number, signal?: AbortSignal): Promise<MessagePage> {
  return get<MessagePage>(withQuery(sessionPath(id, "/messages"), { ...which, limit: String(limit), receipts: "true" }), signal);
}

/** Every stored message, also of the branches that are not current. */
export function allBranches(id: string, signal?: AbortSignal): Promise<StoredMessage[]> {
  return all<StoredMessage>(sessionPath(id, "/messages?branch=all"), 10_000, signal);
}

/** Make the branch that contains a message the current one. */
export function chooseBranch(id: string, message: string): Promise<Session> {
  return post<Session>(sessionPath(id, "/branch"), { message_id: message });
}

/** Hide one item from the recall of this conversation only. */
export function exclude(id: string, kind: Exclusion["kind"], item: string): Promise<unknown> {
  return post(sessionPath(id, "/exclusions"), { kind, id: item });
}

export function include(id: string, item: string): Promise<unknown> {
  return remove(sessionPath(id, `/exclusions/${item}`));
}

export function exclusions(id: string, signal?: AbortSignal): Promise<Exclusion[]> {
  return all<Exclusion>(sessionPath(id, "/exclusions"), 1_000, signal);
}
