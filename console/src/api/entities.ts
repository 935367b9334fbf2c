/** Entities: the people, places and things of a project, and what people do with them. */

import { get, post, remove } from "./client";
import type { Entity } from "./shapes";

export interface EntityDetail extends Entity {
  aliases: string[];
  relations: { relation: string; entity_id: string; message_ids: string[] }[];
  mentions: { message_id: string; session_id: string; content: string; created_at: string }[];
}

export function entityDetail(id: string, signal?: AbortSignal): Promise<EntityDetail> {
  return get(`/v1/entities/${id}`, signal);
}

export function mergeEntity(id: string, into: string): Promise<EntityDetail> {
  return post(`/v1/entities/${id}/merge`, { into });
}

export function splitAlias(id: string, alias: string): Promise<EntityDetail> {
  return post(`/v1/entities/${id}/split`, { aliases: [alias] });
}

/** Undo the last merge, split or deletion. */
export function restoreEntity(id: string): Promise<EntityDetail> {
  return post(`/v1/entities/${id}/restore`);
}

export function deleteEntity(id: string): Promise<unknown> {
  return remove(`/v1/entities/${id}`);
}
