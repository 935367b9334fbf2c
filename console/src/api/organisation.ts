/** The tenant: deleting a project, the connection of the model, and uploaded files. */

import { answerOf, get, post, remove, segment, withQuery } from "./client";

export interface DeletedProject {
  sessions_moved: number;
  memories_moved: number;
  deleted: Record<"sessions" | "messages" | "episodes" | "memories" | "observations" | "entities" | "files" | "entries", number> | null;
}

export interface ModelTest {
  ok: boolean;
  model: string | null;
  seconds: number | null;
  detail: string;
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
}

export interface ImportResult {
  added: Record<string, number>;
  unchanged: Record<string, number>;
  skipped: Record<string, number>;
  remarks: Record<string, number>;
}

export function deleteProject(project: string, contents: "keep" | "delete", dryRun = false): Promise<DeletedProject> {
  return remove(withQuery(`/org/projects/${segment(project)}`, { contents, ...(dryRun ? { dry_run: "true" } : {}) }));
}

export function testModel(): Promise<ModelTest> {
  return post("/org/model/test");
}

interface ListedModel {
  id: string;
  kind: "chat" | "embedding";
  takes_images: boolean;
}

/** The chat models that the endpoint lists; the first is used unless another is chosen. Without one: `recall-only`. */
export async function listModels(signal?: AbortSignal): Promise<ListedModel[]> {
  const { data } = await get<{ data: ListedModel[] }>("/v1/models", signal);
  return data.filter((each) => each.kind === "chat");
}

/** Called with the part of a file that was sent, from 0 to 1. */
export type Progress = (part: number) => void;

/** What is in this file. `format`: of which it is; empty to find out. */
export function previewImport(file: File, format: string, onProgress: Progress): Promise<ImportPreview> {
  return upload(fileAddress(file, { project_id: "none", dry_run: "true", ...(format ? { format } : {}) }), file, "application/octet-stream", onProgress);
}

export function importFile(file: File, project: string | null, format: string, onProgress: Progress): Promise<ImportResult> {
  return upload(fileAddress(file, { project_id: project ?? "none", ...(format ? { format } : {}) }), file, "application/octet-stream", onProgress);
}

/** An archive of a Cloister says itself where everything goes. */
export function importArchive(file: File, onProgress: Progress): Promise<ImportResult> {
  return upload("/v1/import", file, "application/x-ndjson", onProgress);
}

function fileAddress(file: File, query: Record<string, string>): string {
  return withQuery("/v1/import/file", { filename: file.name.slice(-200), modified_at: new Date(file.lastModified).toISOString(), ...query });
}

/** Not by `fetch`, which does not say how much was sent. */
function upload<T>(address: string, file: File, type: string, onProgress: Progress): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Content-Type", type);
    request.upload.onprogress = (event) => onProgress(event.lengthComputable && event.total > 0 ? event.loaded / event.total : 0);
    request.onerror = () => reject(new TypeError("network"));
    request.onload = () => {
      const response = new Response(request.responseText, { status: request.status });
      void answerOf<T>(response).then(resolve, reject);
    };
    request.send(file);
  });
}
