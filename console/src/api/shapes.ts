/** What the API answers, as far as the console reads it. Names are those of the HTTP interface. */

export interface Project {
  project_id: string;
  name: string;
  is_default: boolean;
  member_visibility: "shared" | "private";
  memory_count: number;
  settings: ProjectSettings;
  /** What is probably not meant, in words. */
  warnings: string[];
  created_at: string;
}

export interface ProjectSettings {
  observation_scope?: "session" | "user";
  pending_message_count?: number;
  system_prompt?: string | null;
}

export interface Session {
  external_id: string;
  project_id: string | null;
  user_id: string | null;
  title: string | null;
  message_count: number;
  memory_count?: number;
  pinned: boolean;
  archived: boolean;
  /** Of this conversation; null: the project's. */
  system_prompt: string | null;
  model: string | null;
  /** What is probably not meant, in words. */
  warnings: string[];
  /** The last message of the current branch. */
  current_leaf_id?: string | null;
  /** Whether there are messages that are not on the current branch. */
  is_forked?: boolean;
  memory_job_pending: boolean;
  last_extraction_error: string | null;
  created_at: string;
  updated_at: string;
}

export type Status = "completed" | "partial" | "failed";

export interface StoredMessage {
  id: string;
  session_id: string;
  seq: number;
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  author: string | null;
  status: Status;
  /** The message that this one follows; null for a first one. */
  parent_id?: string | null;
  /** Whether it is on the current branch. */
  is_current?: boolean;
  metadata: Record<string, unknown>;
  created_at: string;
}

export interface RecalledItem {
  id: string;
  session_id: string;
  role: string;
  content: string;
  author: string | null;
  user_id: string | null;
  created_at: string;
  score: number | null;
  relevance: number | null;
  strength: "strong" | "weak" | null;
  times_said: number;
  same_as: string[];
  is_excerpt: boolean;
}

export interface Memory {
  id: string;
  content: string;
  session_id: string;
  user_id: string | null;
  importance: number | null;
  source_message_ids: string[];
  created_at: string;
  status?: "active" | "superseded" | "expired" | "retracted";
  pinned?: boolean;
  categories?: string[];
  valid_from?: string | null;
  valid_until?: string | null;
  superseded_by?: string | null;
  expires_at?: string | null;
  metadata?: Record<string, unknown>;
  source?: string;
}

export interface Entity {
  id: string;
  name: string;
  type: string;
  notes: string;
}

export interface Observation {
  id: string;
  content: string;
  session_id: string;
  source_message_ids: string[];
  created_at: string;
}

export interface Context {
  session_id: string;
  project_id: string | null;
  relevant_history: RecalledItem[];
  memories: Memory[];
  entities: Entity[];
  observations: Observation[];
  tokens: number;
}

export interface Hit {
  kind: "episode" | "memory" | "entity";
  id: string;
  session_id: string | null;
  role: string | null;
  content: string;
  score: number;
  relevance: number;
  strength: "strong" | "weak";
  created_at: string;
  /** The message that an episode is shown by. */
  message_id: string | null;
}

export interface Forgotten {
  messages: number;
  episodes: number;
  memories: number;
  observations: number;
}

export type Permission = "read" | "write" | "admin";

export interface ApiKey {
  key_id: string;
  name: string;
  project_id: string | null;
  confined: boolean;
  user_id: string | null;
  permissions: Permission[];
  expires_at: string | null;
  created_at: string;
}

export interface Usage {
  messages: number;
  sessions: number;
  projects: number;
  api_keys: number;
  limits: { messages: number | null; sessions: number | null; projects: number | null };
}

export interface SignedIn {
  tenant_id: string;
  key_id: string;
  name: string;
  permissions: Permission[];
  project_id: string | null;
  confined: boolean;
  user_id: string | null;
}

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}
