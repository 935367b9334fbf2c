/** Memories of a project or a user, and their history. */

import { all, patch, post, remove, segment, withQuery } from "./client";
import type { Memory } from "./shapes";

/** No user can have this for a name. */
export const EVERYBODY: unique symbol = Symbol("everybody");

/** Which memories of a project: with `category`, of that one; with `query`, those that contain all of its words. */
export interface MemoryFilter {
  /** Null: no project. */
  project: string | null;
  /** Whose part, where memory is divided by user: a user's, of chats without one (null), or everybody's, for admins. */
  user: string | null | typeof EVERYBODY;
  status: string;
  pinned: boolean;
  category: string;
  query: string;
}

export interface TimelineEntry {
  kind: "learnt" | "superseded" | "corrected" | "changed" | "retracted" | "restored";
  at: string;
  /** The memory as it is now. */
  memory: Memory;
  before: string | null;
  after: string | null;
  replaced_id: string | null;
  changed_by: string | null;
  undone_at: string | null;
}

export interface MemoryRevision {
  action: "create" | "correct" | "retract" | "restore";
  changed_by: string | null;
  changed_at: string;
  undone_at: string | null;
  before: { content: string; pinned: boolean; is_retracted: boolean } | null;
}

export interface MemoryChange {
  content?: string;
  importance?: number | null;
  expires_at?: string | null;
  pinned?: boolean;
  categories?: string[];
}

/** The parameters that name one part of a project. */
export function partQuery(user: MemoryFilter["user"]): Record<string, string> {
  if (user === EVERYBODY) return { users: "all" };
  return user === null ? {} : { user_id: user };
}

export function memoriesPath({ project, user, status, pinned, category, query }: MemoryFilter): string {
  return withQuery("/v1/memories", {
    project_id: project ?? "none",
    ...partQuery(user),
    ...(status ? { status } : {}),
    ...(pinned ? { pinned: "true" } : {}),
    ...(category ? { filter: JSON.stringify({ category }) } : {}),
    ...(query ? { query } : {}),
  });
}

export function memoryHistory(id: string, signal?: AbortSignal): Promise<MemoryRevision[]> {
  return all<MemoryRevision>(`/v1/memories/${id}/history`, 200, signal);
}

export function addMemory(session: string, content: string): Promise<{ appended: Memory[]; duplicates: number }> {
  return post("/v1/memories", { session_id: session, contents: [content] });
}

export function changeMemory(id: string, change: MemoryChange): Promise<Memory> {
  return patch<Memory>(`/v1/memories/${id}`, change);
}

export function retractMemory(id: string): Promise<Memory> {
  return post<Memory>(`/v1/memories/${id}/retract`);
}

export function restoreMemory(id: string): Promise<Memory> {
  return post<Memory>(`/v1/memories/${id}/restore`);
}

export function forgetMemory(id: string): Promise<unknown> {
  return remove(`/v1/memories/${id}`);
}

export function timelinePath(project: string, user: MemoryFilter["user"]): string {
  return withQuery(`/org/projects/${segment(project)}/timeline`, partQuery(user));
}

/** How much was stored on each of the last days, the oldest first. */
export interface Activity {
  days: { date: string; messages: number; memories: number }[];
  complete: boolean;
}

export function activityPath(project: string, user: MemoryFilter["user"]): string {
  return withQuery(`/org/projects/${segment(project)}/activity`, partQuery(user));
}

export function userActivityPath(user: string): string {
  return `/v1/users/${segment(user)}/activity`;
}

export function userTimelinePath(user: string): string {
  return `/v1/users/${segment(user)}/timeline`;
}
