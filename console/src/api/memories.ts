/** Memories of a project or a user, and their history. */

import { get, patch, post, remove, segment, withQuery } from "./client";
import type { Memory, Page } from "./shapes";

export interface MemoryFilter {
  /** Null: no project. */
  project: string | null;
  user?: string;
  /** All members' memories, in a project that is private to each. */
  everybody?: boolean;
  status?: NonNullable<Memory["status"]>;
  pinned?: boolean;
  category?: string;
  query?: string;
}

export interface TimelineEntry {
  id: string;
  at: string;
  kind: "learnt" | "corrected" | "superseded" | "retracted" | "restored" | "changed";
  memory: Memory;
  before: string | null;
  after: string | null;
  other_memory: { id: string; content: string } | null;
  changed_by: string | null;
  undone_at: string | null;
}

export interface MemoryChange {
  content?: string;
  importance?: number | null;
  expires_at?: string | null;
  pinned?: boolean;
  categories?: string[];
}

export function memoriesPage(filter: MemoryFilter, cursor: string | null = null, signal?: AbortSignal): Promise<Page<Memory>> {
  const { project, user, everybody, status, pinned, category, query } = filter;
  return get(
    withQuery("/v1/memories", {
      project_id: project ?? "none",
      limit: "50",
      ...(user ? { user_id: user } : {}),
      ...(everybody ? { users: "all" } : {}),
      ...(status ? { status } : {}),
      ...(pinned === undefined ? {} : { pinned: String(pinned) }),
      ...(category ? { category } : {}),
      ...(query ? { query } : {}),
      ...(cursor ? { cursor } : {}),
    }),
    signal,
  );
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

export function projectTimeline(project: string, query: Record<string, string> = {}, signal?: AbortSignal): Promise<Page<TimelineEntry>> {
  return get(withQuery(`/org/projects/${segment(project)}/timeline`, query), signal);
}

export function userTimeline(user: string, query: Record<string, string> = {}, signal?: AbortSignal): Promise<Page<TimelineEntry>> {
  return get(withQuery(`/v1/users/${segment(user)}/timeline`, query), signal);
}
