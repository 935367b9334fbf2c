/** The tenant: deleting a project, usage over time, the connection of the model, and uploaded files. */

import { checkedFetch, get, post, remove, segment, withQuery } from "./client";

export interface DeletedProject {
  sessions_moved: number;
  memories_moved: number;
  deleted: Record<"sessions" | "messages" | "episodes" | "memories" | "observations" | "entities" | "files" | "entries", number> | null;
}

export interface ModelTest {
  configured: boolean;
  reachable: boolean;
  model: string | null;
  models: string[];
  reply_ms: number | null;
  error: string | null;
  advice: string | null;
}

export interface ImportPreview {
  format: string;
  conversations: number;
  messages: number;
  memories: number;
  first_at: string | null;
  last_at: string | null;
  skipped: Record<string, number>;
  remarks: Record<string, number>;
  titles: string[];
}

export interface ImportResult {
  added: Record<string, number>;
  unchanged: Record<string, number>;
  skipped: Record<string, number>;
  remarks: Record<string, number>;
}

export interface UsageDay {
  date: string;
  messages: number;
  tokens: number;
}

export function deleteProject(project: string, contents: "keep" | "delete", dryRun = false): Promise<DeletedProject> {
  return remove(withQuery(`/org/projects/${segment(project)}`, { contents, ...(dryRun ? { dry_run: "true" } : {}) }));
}

export async function usageHistory(days: number, signal?: AbortSignal): Promise<UsageDay[]> {
  return (await get<{ days: UsageDay[] }>(withQuery("/org/usage/history", { days: String(days) }), signal)).days;
}

export function testModel(): Promise<ModelTest> {
  return post("/org/model/test");
}

/** The chat models that the endpoint lists; the first is used unless another is chosen. Without one: `recall-only`. */
export async function listModels(signal?: AbortSignal): Promise<string[]> {
  const { data } = await get<{ data: { id: string; kind: "chat" | "embedding" }[] }>("/v1/models", signal);
  return data.filter((each) => each.kind === "chat").map((each) => each.id);
}

/** What an import of this file would do. */
export function previewImport(file: File, project: string | null): Promise<ImportPreview> {
  return upload(file, { project_id: project ?? "none", dry_run: "true" });
}

export function importFile(file: File, project: string | null): Promise<ImportResult> {
  return upload(file, { project_id: project ?? "none" });
}

async function upload<T>(file: File, query: Record<string, string>): Promise<T> {
  const response = await checkedFetch(withQuery("/v1/import/file", { filename: file.name, ...query }), {
    method: "POST",
    body: file,
    headers: { "Content-Type": "application/octet-stream" },
  });
  return (await response.json()) as T;
}
