// Made by `python clients/typescript/generate.py` from the OpenAPI document; a test compares the two.

/**
 * The last days, the oldest first, also those on which nothing was stored. `complete` is false if something was done in
 * more than 1,000 sessions: then only those in which something was done last are counted.
 */
export interface Activity {
  days: ActivityDay[];
  complete: boolean;
}

/** How many messages and memories were stored on one day of UTC, and are still there. */
export interface ActivityDay {
  date: string;
  messages: number;
  memories: number;
}

/** A new admin key of a tenant. `key` is not stored, and cannot be read again. */
export interface AdminKey {
  key_id: KeyId;
  key: Secret;
}

export interface Alive {
  status: "alive";
}

/** An API key without its secret. */
export interface ApiKey {
  key_id: KeyId;
  name: string;
  project_id: ProjectId | null;
  confined: boolean;
  user_id: Name | null;
  permissions: ("read" | "write" | "admin")[];
  expires_at: Time | null;
  created_at: Time;
}

export interface ApiKeyPage {
  data: ApiKey[];
  next_cursor: Cursor | null;
}

/** The memories that were added, and how many were not because the session has them already. */
export interface Appended {
  appended: Memory[];
  duplicates: number;
}

/**
 * The result. `crossings` is 0 if every wall stood; the first ones are in `found`. `blind` counts reads that failed, or
 * should have shown their own marker and did not, so that they prove nothing; `not_seen` names them. `left` is what
 * could not be removed afterwards. `passed`: none of these.
 */
export interface Audit {
  reads: number;
  crossings: number;
  blind: number;
  tenants: number;
  matrix: AuditCell[];
  doors: DoorReads[];
  found: Crossing[];
  not_seen: string[];
  not_asked: NotAsked[];
  left: string[];
  passed: boolean;
}

/**
 * What one reader saw of one target: in `seen` reads, of which `crossings` must not have shown it. `allowed`: whether
 * any read of this reader may show the target.
 */
export interface AuditCell {
  reader: string;
  target: string;
  seen: number;
  allowed: boolean;
  crossings: number;
}

/** What was removed, the checks that were made afterwards with their results, and those that were not made. */
export interface Certificate {
  removed: Record<string, string[]>;
  more: Record<string, number>;
  checks: CertificateCheck[];
  not_made: CheckNotMade[];
}

/** A check that was made after the removal, and whether it passed. */
export interface CertificateCheck {
  check: string;
  passed: boolean;
}

/**
 * The request of the AI SDK's chat transport. Only the last message of the user is read; the history is the server's.
 */
export interface ChatRequest {
  /** The session's `external_id`. If there is no such session, it is created with this message. */
  id: Name;
  messages: UiMessage[];
  /**
   * The project of a new session. Without it: the project of the request. `null`: no project. A session that exists
   * must be in this project.
   */
  project_id?: ProjectId | null;
  /** The user of a new session. A session that exists must be this user's. */
  user_id?: Name | null;
  /**
   * `regenerate-message`: make a reply again; the new one becomes current, and the old one stays on a branch of its
   * own.
   */
  trigger?: "submit-message" | "regenerate-message" | undefined;
  /**
   * With `submit-message`: the id of the user's message that this one is another version of. It becomes its sibling,
   * and what followed the old one stays on a branch of its own. With `regenerate-message`: the id of the reply to be
   * made again, or of the user's message to be answered; without it, or with an id that does not begin with `msg_`, the
   * user's last message is answered again.
   */
  messageId?: string | null | undefined;
  /**
   * What is less relevant to the message is not recalled for this reply; 0 recalls everything. Without it: the
   * project's setting.
   */
  min_relevance?: number | null | undefined;
}

/** A check that was not made, and why: nothing is claimed about it. */
export interface CheckNotMade {
  check: string;
  reason: string;
}

/** A message of the branch that is wanted. */
export interface ChosenBranch {
  message_id: MessageId;
}

/** Text without NUL, not blank. */
export type Content = string;

/**
 * The context for a reply. `memory_context` is the text of what was recalled, ready for a prompt. `omitted` counts what
 * was left out: `weak` messages, `duplicate` ones, what was beyond a `limit`, and what did not fit into the `budget`,
 * also by part. `receipt` says what was given by which rule; `receipt_id` is its id, if the project stores receipts.
 * `unmoved_token`, given as `if_unmoved_since`, lets a reply be recorded only if the session still recalls from the
 * same pool. `stale` counts the messages, memories and entities of the pool that were indexed by another version of
 * Cloister and not yet again; of very many of these, some are not found until then. It is None, and left out of JSON,
 * where there are none.
 */
export interface Context {
  session_id: Name;
  project_id: ProjectId | null;
  current_conversation: ContextItem[];
  relevant_history: ContextItem[];
  chat_history: ContextItem[];
  memories: RecalledMemory[];
  entities: RecalledEntity[];
  observations: Observation[];
  memory_context: string;
  tokens: number;
  omitted: Record<string, number>;
  /**
   * How many messages, memories and entities of the pool were indexed by another version of Cloister, and not yet
   * again. Left out where there are none.
   */
  stale?: number | undefined;
  receipt: InlineReceipt | null;
  receipt_id: string | null;
  unmoved_token: string | null;
}

/**
 * A message in a context. `user_id` is the user of its session. A message that was searched for has a `score`, which
 * orders the messages, its `relevance` to the query from 0 to 1, which means the same in every pool, and a `strength`:
 * `strong` from 0.5 on, else `weak`. `times_said` counts the messages that say the same, and `same_as` are the ids of
 * up to 10 others of them. `is_excerpt` marks a passage of a longer message.
 */
export interface ContextItem {
  id: MessageId;
  session_id: Name;
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  author: string | null;
  user_id: Name | null;
  created_at: Time;
  source: "session" | "pool" | "semantic";
  score: number | null;
  relevance: number | null;
  strength: "strong" | "weak" | null;
  times_said: number;
  same_as: MessageId[];
  is_excerpt: boolean;
}

export interface ContextRequest {
  /** The session's `external_id`. */
  session_id: Name;
  /** Without it: the user's last message. */
  query?: Content | null | undefined;
  /** The limit of every recent source. Without it: 20 of each role. */
  recent_limit?: number | null | undefined;
  /** The limit of every semantic source. Without it: 10 of each role, or 100 with `budget_tokens`. */
  semantic_limit?: number | null | undefined;
  /**
   * The largest size of the context, in tokens; the current conversation has priority, and related messages fill the
   * rest. In a small budget long messages come as excerpts. Without it, the project's `history_tokens` limits the
   * related messages, unless `semantic_limit` or `sources` is given.
   */
  budget_tokens?: number | null | undefined;
  /** Sources that replace those of the project. */
  sources?: ContextSource[] | null | undefined;
  /** What is less relevant is left out; 0 leaves nothing out. Without it: the project's setting. */
  min_relevance?: number | null | undefined;
  /** When the query is asked: "last week" is relative to it. Without it: now. */
  asked_at?: Time | null | undefined;
  /** Recall the memories that were true at this time. Without it: those that are true now. */
  as_of?: Time | null | undefined;
  /** Recall only what this filter lets pass. It is applied before ranking, so that the limits count what is left. */
  filter?: Filter | null | undefined;
}

/** Messages of one role: the most recent or the best matches, of this session or of its whole pool. */
export interface ContextSource {
  role: "user" | "assistant" | "system" | "tool";
  method: "recent" | "semantic";
  /** The largest number of messages. Without it: 20 recent or 10 semantic ones. */
  limit?: number | undefined;
  /** Without it: `current` for recent messages, `pool` for semantic ones. */
  conversation_scope?: "current" | "pool" | null | undefined;
}

/** A new API key. `key` is the key itself; it is not stored, and cannot be read again. */
export interface CreatedKey {
  key_id: KeyId;
  name: string;
  project_id: ProjectId | null;
  confined: boolean;
  user_id: Name | null;
  permissions: ("read" | "write" | "admin")[];
  expires_at: Time | null;
  created_at: Time;
  key: Secret;
}

/**
 * A read that showed what it must not: who asked, through which door and path, and whose words or ids were in the
 * answer; or which target was answered as if the reader reached it.
 */
export interface Crossing {
  reader: string;
  door: string;
  read: string;
  target: string;
}

/** The position of the next page in a list; opaque. */
export type Cursor = string;

/** How much was deleted with a project, or would be. */
export interface DeletedContents {
  sessions: number;
  messages: number;
  episodes: number;
  memories: number;
  observations: number;
  entities: number;
  entries: number;
  files: number;
}

/**
 * How many sessions, memories, files and entries of a deleted project are in no project now, or would be. The
 * certificate names what was removed: the project. Of a dry run, `would_remove` does, and `visible_to` says who would
 * recall them there: other sessions of the same users, which are in no project. If the contents were deleted too,
 * nothing moves, and `deleted` has the numbers.
 */
export interface DeletedProject {
  sessions_moved: number;
  memories_moved: number;
  files_moved: number;
  entries_moved: number;
  certificate: Certificate | null;
  would_remove: RemovedRows | null;
  visible_to: VisibilityPreview | null;
  deleted: DeletedContents | null;
}

/** How many reads went through one door. */
export interface DoorReads {
  door: string;
  reads: number;
}

/** A person, place or thing that the sessions of a project mention, with notes on it. */
export interface Entity {
  id: EntityId;
  name: string;
  type: "person" | "place" | "organisation" | "project" | "product" | "event" | "other";
  notes: string;
}

/** A change of an entity; fields that are not given stay as they are. */
export interface EntityChange {
  /** At most 120 characters. The old name stays an alias. */
  name?: string | null | undefined;
  type?: "person" | "place" | "organisation" | "project" | "product" | "event" | "other" | null | undefined;
  /** At most 1,000 characters. They replace what was extracted; may be empty. */
  notes?: string | null | undefined;
  /** All other names; later mentions of them count for this entity. A name that messages use cannot be left out. */
  aliases?: string[] | null | undefined;
  /** The project that the entity is moved to; alone. */
  project_id?: ProjectId | null;
  /** With private members: the user whom the entity is moved to (needs `admin`). Without it, its user stays. */
  user_id?: Name;
}

/**
 * An entity with the other names that it is known by, its relations to other entities, and the latest messages that
 * mention it, at most 50.
 */
export interface EntityDetail {
  id: EntityId;
  name: string;
  type: "person" | "place" | "organisation" | "project" | "product" | "event" | "other";
  notes: string;
  aliases: string[];
  relations: EntityRelation[];
  mentions: EntityMention[];
}

/** `ent_` and 16 hexadecimal digits. */
export type EntityId = string;

/** A message that mentions an entity. `content` is without recalled text that the message quotes. */
export interface EntityMention {
  message_id: MessageId;
  session_id: Name;
  user_id: Name | null;
  role: "user" | "assistant" | "system" | "tool";
  author: string | null;
  content: string;
  created_at: Time;
}

export interface EntityMerge {
  /** The entity whose id and name stay. */
  into: EntityId;
}

export interface EntityPage {
  data: Entity[];
  next_cursor: Cursor | null;
}

/**
 * What an entity is to another one of the project, such as `works at`, with the messages that say so, at most 20.
 * Messages that were moved to another project are not named.
 */
export interface EntityRelation {
  relation: string;
  entity_id: EntityId;
  message_ids: MessageId[];
}

/** What is split off: `aliases`, or `message_ids` with a `name`. */
export interface EntitySplit {
  aliases?: string[] | null | undefined;
  /** Messages that mention the entity. Those that were extracted together stay together. */
  message_ids?: MessageId[] | null | undefined;
  /** The name of the new entity. */
  name?: string | null | undefined;
}

export interface EntryOperations {
  /** Without it: the project of the request, else the default project. `null`: no project. */
  project_id?: ProjectId | null;
  /** Whose entries. Without it: those of no user. */
  user_id?: Name | null;
  /**
   * Each has an `op`: `get`, `put`, `delete` (`namespace`, `key`), `search` (`namespace_prefix`), `list` (`namespace`;
   * in order of keys, on from `after`), `list_namespaces`, `delete_expired`, or `expect` (`namespace`, `key`, `value`):
   * unless the entry has this value, or is missing for `null`, nothing is written, and the answer is 409.
   */
  operations: Record<string, unknown>[];
}

/** The results of a batch, one for each operation. */
export interface EntryResults {
  data: unknown[];
}

/** A message of the user with the replies to it. */
export interface Episode {
  id: EpisodeId;
  session_id: Name;
  message_ids: MessageId[];
  created_at: Time;
}

/** `ep_` and 16 hexadecimal digits. */
export type EpisodeId = string;

/** How much of a tenant was erased, or would be. */
export interface ErasedTenant {
  projects: number;
  sessions: number;
  messages: number;
  episodes: number;
  memories: number;
  observations: number;
  entities: number;
  api_keys: number;
  entries: number;
  files: number;
  certificate: Certificate | null;
}

/** How much of a user was erased, or would be: of a dry run, `would_remove` names the rows. */
export interface ErasedUser {
  sessions: number;
  messages: number;
  episodes: number;
  memories: number;
  observations: number;
  entities: number;
  entries: number;
  files: number;
  certificate: Certificate | null;
  would_remove: RemovedRows | null;
}

/**
 * A message, memory or entity that a session does not recall, although it is in its pool: `kind` and `id` name it,
 * `content` is what it says now, `session_id` the session it is from (none for an entity), `user_id` whose words it is.
 * `created_at` is when it was excluded.
 */
export interface Exclusion {
  kind: string;
  id: string;
  content: string;
  session_id: Name | null;
  user_id: Name | null;
  created_at: Time;
}

export interface ExclusionPage {
  data: Exclusion[];
  next_cursor: Cursor | null;
}

/** Either `session_id` and `query`, or `receipt_id`; and the message to explain. */
export interface ExplainRequest {
  message_id: MessageId;
  /** The session whose context is explained, with `query`. */
  session_id?: Name;
  /** What is asked in the session. */
  query?: Content | null | undefined;
  /** A receipt that is explained, instead of `session_id` and `query`. */
  receipt_id?: string | null | undefined;
}

/**
 * Why a message was, or was not, recalled. `reason` is `recalled`, `limit`, `weak`, `duplicate`, `budget`, `quotation`,
 * `excluded` or `not_indexed`, and `detail` says more. `rank` is its position, from 1, among the candidates, and
 * `parts` are those of its score; both are null or empty where it is no candidate. `changed` is null unless a receipt
 * was named and its pool has changed.
 */
export interface Explanation {
  message_id: string;
  recalled: boolean;
  rank: number | null;
  relevance: number | null;
  parts: Record<string, number>;
  reason: string;
  detail: string;
  changed: ReceiptChange | null;
}

/** How many memories an extraction added, and how many messages it read. */
export interface Extraction {
  appended: number;
  checked_messages: number;
}

/**
 * What an extraction would keep of given messages. `notice` says what the extractor cannot read, if there is something.
 */
export interface ExtractionPreview {
  memories: PreviewedMemory[];
  entities: PreviewedEntity[];
  notice: string | null;
}

/** Messages, as if a new session of a project had said them. */
export interface ExtractionPreviewRequest {
  messages: NewMessage[];
  /** Without it: the project of the request, else the default project. `null`: no project. */
  project_id?: ProjectId | null;
}

/** What is wrong with one field. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** The answer of a command, for the assistant. `is_error`: it says why the command was not carried out. */
export interface FileAnswer {
  text: string;
  is_error: boolean;
}

/** A command of Anthropic's memory tool, `memory_20250818`, with its fields. `clear` removes all files. */
export interface FileChange {
  /**
   * If it is given, the session must be in this project, for `null` in none; otherwise nothing is done, and the answer
   * is a conflict.
   */
  project_id?: ProjectId | null;
  /** If it is given, the session must be this user's. */
  user_id?: Name;
  command: "create" | "str_replace" | "insert" | "delete" | "rename" | "clear";
  path?: string | null | undefined;
  file_text?: string | null | undefined;
  old_str?: string | null | undefined;
  new_str?: string | null | undefined;
  insert_line?: number | null | undefined;
  insert_text?: string | null | undefined;
  old_path?: string | null | undefined;
  new_path?: string | null | undefined;
}

/** What to view: a directory, or a file, or some of its lines. */
export interface FileView {
  /**
   * If it is given, the session must be in this project, for `null` in none; otherwise nothing is done, and the answer
   * is a conflict.
   */
  project_id?: ProjectId | null;
  /** If it is given, the session must be this user's. */
  user_id?: Name;
  /** `/memories`, or a path below it. */
  path: string;
  /** The first and the last line, from 1; -1 is the end. */
  view_range?: number[] | null | undefined;
}

/**
 * Conditions, all of which must be true. A condition on what an item does not have, such as the role of a memory, is
 * false. At most 50 conditions, in objects nested at most 5 deep.
 */
export interface Filter {
  /** Said after this time: messages by `created_at`, memories by `valid_from`; entities created after it. */
  created_after?: Time | undefined;
  /** Said before this time. */
  created_before?: Time | undefined;
  /** Of this session. */
  session_id?: Name;
  /** Of this user's sessions. */
  user_id?: Name;
  /** Messages of this role. */
  role?: "user" | "assistant" | "system" | "tool" | undefined;
  /** Messages of this author. */
  author?: Name | undefined;
  /** With this category. */
  category?: string | undefined;
  /** With these entries, equal as JSON. */
  metadata?: Record<string, unknown> | undefined;
  /** `episode` is the same as `message`. */
  kind?: "message" | "episode" | "memory" | "entity" | "observation" | undefined;
  and?: Record<string, unknown>[] | undefined;
  or?: Record<string, unknown>[] | undefined;
  /** A filter: conditions like these. */
  not?: Record<string, unknown> | undefined;
}

/** How much was deleted, with its certificate; or, with a dry run, how much would be, and which rows. */
export interface Forgotten {
  messages: number;
  episodes: number;
  memories: number;
  observations: number;
  files: number;
  certificate: Certificate | null;
  would_remove: RemovedRows | null;
}

/**
 * A search result: an episode, shown by its best message, whose id is `message_id`; a memory, or an entity, which has
 * no session. `user_id` is the user of the session, or of the part of a project that an entity is in; `author` is that
 * of the message. `score` orders the hits; `relevance` and `strength` are as in `ContextItem`. `status` is that of a
 * memory. Where several users may be quoted, memories and notes name them, as in a context.
 */
export interface Hit {
  kind: "episode" | "memory" | "entity";
  id: EpisodeId | MemoryId | EntityId;
  session_id: Name | null;
  user_id: Name | null;
  role: "user" | "assistant" | "system" | "tool" | null;
  author: string | null;
  content: string;
  score: number;
  relevance: number;
  strength: "strong" | "weak";
  times_said: number;
  status: string | null;
  created_at: Time;
  message_id: string | null;
}

export interface HitList {
  data: Hit[];
  /**
   * How many messages, memories and entities of the pool were indexed by another version of Cloister, and not yet
   * again. Left out where there are none.
   */
  stale?: number | undefined;
  receipt: InlineReceipt;
  receipt_id: string | null;
}

/** Numbers of each kind. */
export interface ImportCounts {
  projects: number;
  sessions: number;
  messages: number;
  memories: number;
  observations: number;
  entities: number;
  files: number;
  entries: number;
}

/**
 * What is in a file: its format, how much of each, and from when until when. `skipped`: what cannot be imported, by
 * reason. `remarks`: what is to be known of the rest, with its number.
 */
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

/**
 * What was added and what was there already. `skipped`: how many conversations or messages were not imported, by
 * reason. `remarks`: what is to be known of others that were imported, with their number.
 */
export interface Imported {
  added: ImportCounts;
  unchanged: ImportCounts;
  skipped: Record<string, number>;
  remarks: Record<string, number>;
}

/**
 * What an answer was made of: the items without their words, which are in the answer, and how many candidates were
 * `left_out`, as beyond the `limit`, `weak`, `duplicate`, beyond the `budget`, a `quotation` only, or `excluded`.
 * Receipts are equal if they say the same, whenever and with whichever key it was asked.
 */
export interface InlineReceipt {
  kind: string;
  created_at: Time;
  pool: ReceiptPool;
  key_id: KeyId | null;
  min_relevance: number;
  items: ReceiptItem[];
  left_out: Record<string, number>;
  tokens: number;
}

/** An item in OpenAI's format, as it was added, and its id in the session. */
export interface Item {
  id: string;
  item: Record<string, unknown>;
}

export interface ItemList {
  data: Item[];
}

export interface ItemPage {
  data: Item[];
  next_cursor: Cursor | null;
}

/** `key_` and 16 hexadecimal digits: the id of a key, not the key itself. */
export type KeyId = string;

/** How much a tenant may store; None is no limit. */
export interface Limits {
  messages: number | null;
  sessions: number | null;
  projects: number | null;
  files: number | null;
  entries: number | null;
}

/**
 * A memory. `user_id` is the user of its session; `source_message_ids` is empty for a memory that was added by hand.
 * `status` is `active`, `superseded`, `expired` or `retracted`. It is true from `valid_from`, when it was said, until
 * `valid_until`, when the memory `superseded_by` was said. `source` is `extracted`, `written`, `corrected` or
 * `imported`. A `pinned` memory is in every context of its pool.
 */
export interface Memory {
  id: MemoryId;
  content: string;
  session_id: Name;
  user_id: Name | null;
  importance: number | null;
  source_message_ids: MessageId[];
  status: string;
  valid_from: string;
  valid_until: string | null;
  superseded_by: string | null;
  pinned: boolean;
  expires_at: Time | null;
  categories: string[];
  metadata: Record<string, unknown>;
  source: string;
  created_at: Time;
}

/** A change of a memory; fields that are not given stay as they are. */
export interface MemoryChange {
  /** Another text; `null` keeps it. The memory is then `corrected`, and no extraction overwrites it. */
  content?: string | null | undefined;
  /** From 0 to 1; `null` removes it. */
  importance?: number | null | undefined;
  /** When the memory stops being recalled; in the future. `null`: never. */
  expires_at?: Time | null | undefined;
  /** Whether the memory is in every context of its pool, of which it shows at most 20. */
  pinned?: boolean | undefined;
  /** Labels that a `filter` can ask for. */
  categories?: string[] | undefined;
  /** Stored and returned unchanged: at most 16,384 characters as JSON, nested at most 32 levels deep. */
  metadata?: Record<string, unknown> | undefined;
}

/** `mem_` and 16 hexadecimal digits. */
export type MemoryId = string;

export interface MemoryPage {
  data: Memory[];
  next_cursor: Cursor | null;
}

/**
 * A change of a memory. `action` is `create`, `correct`, `retract` or `restore`; `changed_by` is the id of an API key,
 * `extraction` or `import`, or None where the database was opened without a key. `before` is None for the creation. A
 * change that was undone has an `undone_at`.
 */
export interface MemoryRevision {
  memory_id: string;
  action: string;
  changed_by: string | null;
  changed_at: string;
  undone_at: string | null;
  before: MemoryState | null;
}

/** What a person can change of a memory, as it was before a change. `is_retracted` says that it was retracted then. */
export interface MemoryState {
  content: string;
  importance: number | null;
  expires_at: Time | null;
  pinned: boolean;
  categories: string[];
  metadata: Record<string, unknown>;
  source: string;
  is_retracted: boolean;
}

/** Whose files a memory tool without a session uses. */
export interface MemoryToolScope {
  /** Without it: the project of the request; `null`: no project. */
  project_id?: ProjectId | null;
  /** Without it: the user that the key is bound to, else nobody. */
  user_id?: Name | null;
}

/**
 * The session with the files of a project and a user that a memory tool without a session uses. It need not exist yet.
 */
export interface MemoryToolSession {
  session_id: Name;
  project_id: ProjectId | null;
  user_id: Name | null;
}

export interface MentionPage {
  data: EntityMention[];
  next_cursor: Cursor | null;
}

/**
 * A message. `seq` counts from 1 in its session; `is_memory_checked` says that extraction has read it. `parent_id` is
 * the message that it follows; `is_current` says that it is on the current branch of its session.
 */
export interface Message {
  id: MessageId;
  session_id: Name;
  seq: number;
  parent_id: string | null;
  is_current: boolean;
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  author: string | null;
  status: "completed" | "partial" | "failed";
  is_memory_checked: boolean;
  tags: string[];
  context: MessageContext;
  categories: string[];
  metadata: Record<string, unknown>;
  created_at: Time;
}

/** The session of a message, and the message that it answers. Set by Cloister, not by callers. */
export interface MessageContext {
  session_id: Name;
  trigger_id: MessageId | null;
}

/** `msg_` and 16 hexadecimal digits. */
export type MessageId = string;

export interface MessageList {
  data: Message[];
}

/**
 * Messages in chronological order. `next_cursor` goes on towards newer messages, `previous_cursor` towards older ones.
 * `receipts` are those of the replies on the page, if they were asked for.
 */
export interface MessagePage {
  data: Message[];
  next_cursor: Cursor | null;
  previous_cursor: string | null;
  receipts: ReceiptSummary[];
}

/** One message to append to a session. */
export interface MessageToRecord {
  role: "user" | "assistant" | "system" | "tool";
  content: Content;
  /** The name of the speaker, if the role does not identify them. */
  author?: Name | null | undefined;
  /** Labels that a `filter` can ask for. */
  categories?: string[] | undefined;
  /** Stored and returned unchanged: at most 16,384 characters as JSON, nested at most 32 levels deep. */
  metadata?: Record<string, unknown> | undefined;
  /** When the message was said. Without it: now. */
  created_at?: Time | null | undefined;
  /**
   * The `unmoved_token` of the context that the reply was given. Nothing is recorded, with the error `conflict`, if the
   * session was moved or created anew, or its project shared or divided since.
   */
  if_unmoved_since?: string | null | undefined;
}

/** Whether the model answered a short question, after how many seconds its first words came, and what to do if not. */
export interface ModelTest {
  ok: boolean;
  model: string | null;
  seconds: number | null;
  detail: string;
}

/**
 * What would move with a session. `replies_given_recalled_text` counts its replies that were given recalled text of the
 * pool that it would leave: their own words move along, what they quote of that text does not. `sessions` and `users`:
 * how many other sessions, of how many users, would recall it from then on; None for a key that is bound to one user.
 * `user_ids` are the first 100 of these users, for an admin; None for any other caller.
 */
export interface MovePreview {
  messages: number;
  memories: number;
  observations: number;
  replies_given_recalled_text: number;
  sessions: number | null;
  users: number | null;
  user_ids: string[] | null;
}

/** One line of text without control characters, not blank. */
export type Name = string;

/** A new API key. `confined` needs a `project_id`, to which the key is confined. */
export interface NewApiKey {
  name: Name;
  /** The project of requests with this key that name none. */
  project_id?: ProjectId | null;
  /** Whether the key has no access to other projects. */
  confined?: boolean | undefined;
  permissions?: ("read" | "write" | "admin")[] | undefined;
  /** When the key expires; in the future. */
  expires_at?: Time | null | undefined;
  /**
   * Bind the key to one user: it has access to that user's sessions only, on every route. For keys that are given to a
   * browser or a device. Such a key cannot have the permission `admin`.
   */
  user_id?: Name;
}

export interface NewEpisode {
  /** The session's `external_id`. */
  session_id: Name;
  user_message: Content;
  ai_response: Content;
  /**
   * The `unmoved_token` of the context that the reply was given. Nothing is recorded, with the error `conflict`, if the
   * session was moved or created anew, or its project shared or divided since.
   */
  if_unmoved_since?: string | null | undefined;
}

/** What the session should not recall. */
export interface NewExclusion {
  /** What is excluded. */
  kind: "message" | "memory" | "entity";
  /** Its id. */
  id: string;
}

/** Items in OpenAI's format, each with a `type`, or a message with a `role`. */
export interface NewItems {
  items: Record<string, unknown>[];
}

export interface NewMemories {
  /** The session's `external_id`. */
  session_id: Name;
  /** Short statements, each of at most 2,000 characters. */
  contents: string[];
  /** Labels for filters, of each of the statements. */
  categories?: string[] | undefined;
  /** Stored and returned unchanged: at most 16,384 characters as JSON, nested at most 32 levels deep. */
  metadata?: Record<string, unknown> | undefined;
  /** From 0 to 1. */
  importance?: number | null | undefined;
}

export interface NewMessage {
  role: "user" | "assistant" | "system" | "tool";
  content: Content;
  /** The name of the speaker, if the role does not identify them. */
  author?: Name | null | undefined;
  /** Labels that a `filter` can ask for. */
  categories?: string[] | undefined;
  /** Stored and returned unchanged: at most 16,384 characters as JSON, nested at most 32 levels deep. */
  metadata?: Record<string, unknown> | undefined;
  /** When the message was said. Without it: now. */
  created_at?: Time | null | undefined;
}

export interface NewMessages {
  messages: NewMessage[];
  /**
   * The `unmoved_token` of the context that the reply was given. Nothing is recorded, with the error `conflict`, if the
   * session was moved or created anew, or its project shared or divided since.
   */
  if_unmoved_since?: string | null | undefined;
}

export interface NewProject {
  name: Name;
  /**
   * `private`: each user recalls only what their own sessions in the project said. `shared`: all users recall what any
   * of them said.
   */
  member_visibility?: "shared" | "private" | undefined;
  /** Whether another project may have the same name. */
  allow_duplicate_name?: boolean | undefined;
}

export interface NewSession {
  /** Your id of the session. Without it, the server makes one. */
  external_id?: Name | null | undefined;
  /**
   * Without it: the project of the request, which is `X-Project-ID`, else the key's, else the default project. `null`:
   * no project.
   */
  project_id?: ProjectId | null;
  /** The user of the session. Memory is divided by user, in a project too unless its visibility is `shared`. */
  user_id?: Name | null;
  title?: Name | null | undefined;
  /** Your own tags. Those with the prefix `session:`, `user:` or `project:` are set by the server. */
  tags?: string[] | undefined;
  /** Stored and returned unchanged: at most 16,384 characters as JSON, nested at most 32 levels deep. */
  metadata?: Record<string, unknown> | undefined;
  /** For lists; whether the session is recalled does not depend on it. */
  pinned?: boolean | undefined;
  /** For lists; an archived session is still recalled. */
  archived?: boolean | undefined;
  /** The system prompt of this session, a template as in a project's settings. `null`: the project's. */
  system_prompt?: string | null | undefined;
  /** The chat model of this session, which the model's server has to list. `null`: the project's. */
  model?: Name | null | undefined;
}

export interface NewTenant {
  name: Name;
}

/** A door or a kind of content that was not part of this audit, and why. */
export interface NotAsked {
  door: string;
  reason: string;
}

/**
 * A note that compresses older messages of a session. `created_at` is the time of the last of them, `user_id` the
 * session's user.
 */
export interface Observation {
  id: ObservationId;
  content: string;
  session_id: Name;
  user_id: Name | null;
  source_message_ids: MessageId[];
  created_at: Time;
}

/** `obs_` and 16 hexadecimal digits. */
export type ObservationId = string;

export interface ObservationPage {
  data: Observation[];
  next_cursor: Cursor | null;
}

/** An entity that an extraction would keep. `message_positions` count from zero. */
export interface PreviewedEntity {
  name: string;
  type: string;
  notes: string;
  message_positions: number[];
}

/**
 * A memory that an extraction would keep. `subject` is the key of a fact that has one value at a time, such as `home`:
 * of two memories with one subject, the later takes the place of the earlier. `message_positions` count from zero.
 */
export interface PreviewedMemory {
  content: string;
  importance: number | null;
  categories: string[];
  subject: string | null;
  valid_from: string;
  message_positions: number[];
}

/**
 * An error. `code` never changes its meaning; `detail` is for people. An error about one thing names it by `kind` and
 * `id`.
 */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: "closed" | "conflict" | "damaged_row" | "forbidden" | "headers_too_large" | "idempotency_mismatch" | "internal_error" | "invalid_project_id" | "invalid_request" | "malformed_request" | "method_not_allowed" | "model_unavailable" | "not_found" | "outcome_unknown" | "overloaded" | "project_required" | "quota_exceeded" | "rate_limited" | "storage_busy" | "storage_error" | "storage_full" | "storage_missing" | "storage_read_only" | "storage_unavailable" | "timeout" | "too_large" | "turn_in_progress" | "unauthenticated" | "wrong_host";
  /** What the error is about, where it is about one thing. */
  kind?: "api_key" | "entity" | "episode" | "exclusion" | "item" | "memory" | "message" | "model" | "observation" | "project" | "receipt" | "resource" | "response" | "result" | "session" | "tenant" | undefined;
  /** The id of that thing. */
  id?: string | undefined;
  /** What is wrong with each field of a bad request. */
  errors?: FieldProblem[] | undefined;
}

/**
 * The stable facts of a user or a project, grouped, those that are pinned first. `text` is the same as a block of
 * quoted data for a prompt, of so many `tokens`.
 */
export interface Profile {
  text: string;
  facts: ProfileFact[];
  tokens: number;
}

/**
 * A fact of a profile, with the ids of all memories that say it; an entity of a project has none. In a shared project
 * `content` names the user.
 */
export interface ProfileFact {
  content: string;
  memory_ids: string[];
}

/**
 * A project. `member_visibility` is `private` or `shared`; `isolated` is always true. `warnings` are about its
 * settings.
 */
export interface Project {
  project_id: ProjectId;
  tenant_id: TenantId;
  name: string;
  is_default: boolean;
  isolated: true;
  member_visibility: "shared" | "private";
  memory_count: number;
  settings: ProjectSettings;
  created_at: Time;
  warnings: string[];
}

/** A change of a project; fields that are not given stay as they are. */
export interface ProjectChange {
  name?: Name | null | undefined;
  /** Can only be `true`: the previous default project is no longer the default. */
  is_default?: true | null | undefined;
  /**
   * Whether users recall what others said in the project. A change applies from the next request on, to everything that
   * was said in it before. Try it first with `dry_run=true`.
   */
  member_visibility?: "shared" | "private" | null | undefined;
  settings?: ProjectSettings | null | undefined;
  /** Whether another project may have the same name. */
  allow_duplicate_name?: boolean | undefined;
}

/** `proj_` and 16 hexadecimal digits. */
export type ProjectId = string;

export interface ProjectPage {
  data: Project[];
  next_cursor: Cursor | null;
}

/** Settings of a project; they apply from the next request on. `null` resets a setting to its default. */
export interface ProjectSettings {
  /** Whether the receipts of `/v1/context` and `/v1/search` are stored. Those of replies always are. */
  store_receipts?: boolean | null | undefined;
  /**
   * After how many days a receipt is deleted. Without it, and `null`: that of a reply is kept as long as the reply,
   * others for 30 days.
   */
  receipt_days?: number | null | undefined;
  /** Which observations a context contains: those of the session, or those of its user in the same pool. */
  observation_scope?: "session" | "user" | null | undefined;
  /** Sources of a context if the request gives none. */
  context_sources?: ContextSource[] | null | undefined;
  /** After how many new messages memories are extracted. */
  pending_message_count?: number | null | undefined;
  /**
   * The system prompt of the project's assistant: a template, in which `{MEMORY.CONTEXT}`, `{RELEVANT.HISTORY}`,
   * `{ENTITIES}` and `{OBSERVATIONS}` are replaced by what was recalled, and `{PROFILE}` by what is known of the user.
   * `null`: the default template.
   */
  system_prompt?: string | null | undefined;
  /** What is less relevant to a query is not recalled, unless the request says otherwise; 0 recalls everything. */
  min_relevance?: number | null | undefined;
  /**
   * The largest size of the related messages in a context, in tokens, where the request sets neither a budget nor
   * limits of its own.
   */
  history_tokens?: number | null | undefined;
  /**
   * The chat model that answers in this project, if the request names none. One that the endpoint of the server does
   * not list is not used. Without it, and `null`: the default model of the server.
   */
  model?: Name | null | undefined;
  /**
   * After how many days what was said in the project is forgotten, with all that derives from it. 0 or `null`: never,
   * unless the tenant is stricter. Try it first with `dry_run=true`.
   */
  retention_days?: number | null | undefined;
  /**
   * What to look for in messages, and what to leave out, in words for the model that extracts. Rules cannot follow
   * them.
   */
  extraction_instructions?: string | null | undefined;
  /** Only memories of one of these categories are extracted. Empty: of all. */
  wanted_categories?: string[] | null | undefined;
  /** No memories of these are extracted. */
  unwanted_categories?: string[] | null | undefined;
  /** Less important memories are not extracted. */
  minimum_importance?: number | null | undefined;
  /**
   * Memories and entities are extracted from messages in these languages only. Empty: in all that the extractor knows;
   * rules know English.
   */
  extraction_languages?: ("en" | "de" | "es" | "fr" | "it" | "pt" | "nl" | "ru" | "el" | "zh" | "ja" | "ko" | "ar" | "he" | "hi" | "th")[] | null | undefined;
}

/** A message to the model, with its words as they are now. */
export interface PromptMessage {
  role: "user" | "assistant" | "system" | "tool";
  content: string;
}

/**
 * `waiting` is how many messages are not indexed yet; `stale` how many messages, memories and entities another version
 * of Cloister indexed, which this one is rebuilding. It is left out where there are none. Where the rows of all tenants
 * cannot be counted, because a part of the database is away, `waiting` is "unknown", and `stale` is left out.
 */
export interface Ready {
  status: "ready";
  schema_version: number;
  waiting: number | "unknown";
  /**
   * How many messages, memories and entities of the pool were indexed by another version of Cloister, and not yet
   * again. Left out where there are none.
   */
  stale?: number | undefined;
}

/** An entity in a context, with its `relevance` to the query and its `strength`, as in `ContextItem`. */
export interface RecalledEntity {
  id: string;
  name: string;
  type: string;
  notes: string;
  relevance: number;
  strength: "strong" | "weak";
}

/**
 * A memory in a context, with its `relevance` to the query and its `strength`, as in `ContextItem`. Where several users
 * may be quoted, as in a shared project, `content` names the user: `User "ann" …` instead of the stored `The user …`.
 */
export interface RecalledMemory {
  id: string;
  content: string;
  session_id: Name;
  user_id: Name | null;
  importance: number | null;
  source_message_ids: MessageId[];
  status: string;
  valid_from: string;
  valid_until: string | null;
  superseded_by: string | null;
  pinned: boolean;
  expires_at: Time | null;
  categories: string[];
  metadata: Record<string, unknown>;
  source: string;
  created_at: Time;
  relevance: number;
  strength: "strong" | "weak";
}

/**
 * A stored receipt, as its reader may see it now. `kind` is `reply`, `context` or `search`. Items that are no longer in
 * the pool they were recalled from, and all items after the session has left it, are only counted in `hidden`, and
 * `summary` says so in words; `pool` is then null, and so is what would tell of its prompt and of their length
 * (`tokens`).
 */
export interface Receipt {
  id: string;
  kind: string;
  session_id: Name | null;
  message_id: string | null;
  question_id: string | null;
  query: string | null;
  created_at: Time;
  pool: ReceiptPool | null;
  key_id: KeyId | null;
  min_relevance: number;
  given: number;
  items: StoredReceiptItem[];
  hidden: Record<string, number>;
  summary: string[];
  left_out: Record<string, number>;
  tokens: number | null;
  sent: SentPrompt | null;
  reply: ReplyFacts | null;
}

/**
 * What is different since a receipt was made: the version of the pool then and now, whether the message would be
 * recalled now, with which rank and for which reason; the ids of the messages, memories, entities and observations that
 * would be recalled now and were not (`entered`), and of those that were and would not be (`dropped`); and how many
 * items are no longer there (`hidden`).
 */
export interface ReceiptChange {
  version_then: number;
  version_now: number;
  recalled: boolean;
  rank: number | null;
  relevance: number | null;
  reason: string;
  entered: string[];
  dropped: string[];
  hidden: Record<string, number>;
}

/**
 * Something that was given, and the `rule` that let it in: `match`, `recent`, `pinned`, `note` or `profile`. What was
 * searched for has a `score`, a `relevance` and a `strength`, as in a context.
 */
export interface ReceiptItem {
  kind: string;
  id: string;
  rule: string;
  score: number | null;
  relevance: number | null;
  strength: "strong" | "weak" | null;
  is_excerpt: boolean;
}

/**
 * The pool that was recalled from: the project, None for none, and the number of the pool's version then; in a stored
 * receipt also now.
 */
export interface ReceiptPool {
  project_id: ProjectId | null;
  version: number;
  version_now: number | null;
}

/**
 * The prompt of a reply, as its reader may see it now. Unless it `is_exact`, `missing` says what is not as it was then,
 * such as a memory that was corrected, an item that was forgotten or has moved, or a system prompt that was changed.
 */
export interface ReceiptPrompt {
  messages: PromptMessage[];
  is_exact: boolean;
  missing: string[];
}

/**
 * The receipt of a reply in numbers: how many items it was `given`, and how many of them are `strong` and `weak`.
 * Without `placeholders` its prompt had no room for what is remembered.
 */
export interface ReceiptSummary {
  id: string;
  message_id: string;
  given: number;
  strong: number;
  weak: number;
  placeholders: boolean;
}

/** The answer of deleting one message, memory or entity: its certificate, or with a dry run what would be removed. */
export interface Removed {
  certificate: Certificate | null;
  would_remove: RemovedRows | null;
}

/**
 * Rows by kind and id. Of each kind at most 1,000 are in `removed`; `more` says how many others there are. Both are
 * empty for a key that may not read.
 */
export interface RemovedRows {
  removed: Record<string, string[]>;
  more: Record<string, number>;
}

/** How a reply was made. Times are milliseconds from its beginning. */
export interface ReplyFacts {
  model: string;
  status: string;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  recall_ms: number;
  first_token_ms: number | null;
  total_ms: number;
}

/**
 * How much was too old, and was forgotten, or would be; `sessions` are those that lost messages. Not `complete`: one
 * call does not forget more, and the next one, or the worker, goes on. `certificate` names what went; it is null if
 * nothing did, and for a dry run. `entities` lost their last mention; `receipts` are those of contexts and searches,
 * with what was asked.
 */
export interface Retention {
  sessions: number;
  messages: number;
  memories: number;
  observations: number;
  complete: boolean;
  files: number;
  entities: number;
  receipts: number;
  certificate: Certificate | null;
}

export interface RevisionPage {
  data: MemoryRevision[];
  next_cursor: Cursor | null;
}

/** A search in the scope of a session, or in the pool of a project or of no project, of one user if given. */
export interface SearchRequest {
  query: Content;
  /** The session's `external_id`. */
  session_id?: Name;
  /** Without it: the project of the request. `null`: no project, which is divided by user. */
  project_id?: ProjectId | null;
  user_id?: Name;
  /** The kinds to search. Without it: all. Entities exist in projects only. */
  kinds?: ("episodes" | "memories" | "entities")[] | null | undefined;
  limit?: number | undefined;
  /** What is less relevant is left out; 0 leaves nothing out. Without it: the project's setting. */
  min_relevance?: number | null | undefined;
  /** When the query is asked: "last week" is relative to it. Without it: now. */
  asked_at?: Time | null | undefined;
  /** Recall the memories that were true at this time. Without it: those that are true now. */
  as_of?: Time | null | undefined;
  /** Recall only what this filter lets pass. It is applied before ranking, so that the limits count what is left. */
  filter?: Filter | null | undefined;
}

/** An API key. It is shown only in this answer, and is not stored. */
export type Secret = string;

/** An image that was sent to the model, without its contents. `size` is in bytes. */
export interface SentImage {
  name: string | null;
  media_type: string;
  size: number;
}

/**
 * A message to the model: `kind` is `system_prompt`, `conversation`, `tool_result` or `question`. `characters` is its
 * length; none for the system prompt of a session that was in another project then, nor for that of a project, for a
 * key of one user.
 */
export interface SentPart {
  role: "user" | "assistant" | "system" | "tool";
  kind: string;
  characters: number | null;
}

/**
 * What was sent to the model, without its words. `prompt` is `default`, `project` or `session`; of the prompt of a
 * project or a session there is the SHA-256, unless the session was in another project then; that of a project is not
 * shown to a key of one user. Without `placeholders`, nothing that is remembered was given; null if the session was in
 * another project then. `conversation_ids` are the messages of the session that were sent, as far as they exist;
 * `more_parts` are not listed. The contents of `images` are not stored.
 */
export interface SentPrompt {
  prompt: string;
  template_sha256: string | null;
  placeholders: string[] | null;
  parts: SentPart[];
  more_parts: number;
  conversation_ids: string[];
  tools: number;
  images: SentImage[];
}

/**
 * A session. `memory_job_pending` says that it waits for extraction, `last_extraction_error` why the last one failed. A
 * `pinned` or `archived` session is recalled like all others. `system_prompt` and `model` replace those of its project;
 * None leaves these. `warnings` are about the system prompt. `current_leaf_id` is the last message of its current
 * branch; `is_forked` says that it has messages on other branches too, which `message_count` counts.
 */
export interface Session {
  external_id: Name;
  project_id: ProjectId | null;
  user_id: Name | null;
  title: string | null;
  tags: string[];
  metadata: Record<string, unknown>;
  message_count: number;
  current_leaf_id: string | null;
  is_forked: boolean;
  memory_job_pending: boolean;
  last_extraction_error: string | null;
  created_at: Time;
  updated_at: Time;
  memory_count: number;
  pinned: boolean;
  archived: boolean;
  system_prompt: string | null;
  model: string | null;
  warnings: string[];
}

/** A change of a session; fields that are not given stay as they are. */
export interface SessionChange {
  /** `null` removes the title. */
  title?: Name | null | undefined;
  /** `null` takes the session out of its project. */
  project_id?: ProjectId | null;
  tags?: string[] | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  /** For lists; whether the session is recalled does not depend on it. */
  pinned?: boolean | undefined;
  /** For lists; an archived session is still recalled. */
  archived?: boolean | undefined;
  /** The system prompt of this session, a template as in a project's settings. `null`: the project's. */
  system_prompt?: string | null | undefined;
  /** The chat model of this session, which the model's server has to list. `null`: the project's. */
  model?: Name | null | undefined;
}

export interface SessionPage {
  data: Session[];
  next_cursor: Cursor | null;
}

/** Whether a turn was running. What it had said is stored. */
export interface Stopped {
  stopped: boolean;
}

/**
 * The same with its words as they are now, when they were said or made, and of whom they are. A message has a `role`
 * and perhaps an `author`, an entity `notes`, and all but entities a session; a memory has a `status`, may be `pinned`
 * now, and names the messages it came from. `same_session`: it is of the session of the receipt. `is_changed`: the
 * words were others then, because somebody corrected them, or the entity was mentioned again.
 */
export interface StoredReceiptItem {
  kind: string;
  id: string;
  rule: string;
  score: number | null;
  relevance: number | null;
  strength: "strong" | "weak" | null;
  is_excerpt: boolean;
  content: string;
  session_id: Name | null;
  user_id: Name | null;
  role: "user" | "assistant" | "system" | "tool" | null;
  author: string | null;
  status: string | null;
  notes: string | null;
  created_at: Time;
  same_session: boolean;
  pinned: boolean | null;
  source_message_ids: MessageId[];
  is_changed: boolean;
}

/** A new tenant. `admin_key` is not stored, and cannot be read again. */
export interface Tenant {
  tenant_id: TenantId;
  name: string;
  default_project_id: ProjectId;
  admin_key: Secret;
}

/** `ten_` and 16 hexadecimal digits. */
export type TenantId = string;

export interface TenantPage {
  data: TenantSummary[];
  next_cursor: Cursor | null;
}

/** A change of the tenant's settings; fields that are not given stay as they are. */
export interface TenantSettingsInput {
  /**
   * After how many days what was said is forgotten, in all projects and outside them, with all that derives from it. 0
   * or `null`: never. A project may be stricter.
   */
  retention_days?: number | null | undefined;
  /**
   * After how many days receipts are deleted, in all projects and outside them; a project may be stricter. `null`: as
   * each project says; those of sessions in no project as long as the reply.
   */
  receipt_days?: number | null | undefined;
}

/**
 * The settings of a tenant. `retention_days`: after how many days what was said is forgotten; None keeps it.
 * `receipt_days`: after how many days receipts are deleted; None leaves it to the projects.
 */
export interface TenantSettings {
  retention_days: number | null;
  receipt_days: number | null;
}

/** A tenant as its operator sees it, with how much it stores. */
export interface TenantSummary {
  tenant_id: TenantId;
  name: string;
  created_at: Time;
  projects: number;
  sessions: number;
  messages: number;
}

/** ISO 8601, years 1 to 9999, such as `2026-01-31T09:30:00Z`; times in answers are in UTC. */
export type Time = string;

/**
 * Something that happened to a memory. `kind` is `learnt`; `superseded`, if it took the place of the memory
 * `replaced_id`, from `before` to `after`; `corrected`, if a person changed its text from `before` to `after`;
 * `changed`, if a person changed something else of it; `retracted` or `restored`. `memory` is the memory as it is now.
 * `changed_by` is the id of an API key, `extraction` or `import`. A change that was undone has an `undone_at`.
 */
export interface TimelineEntry {
  kind: string;
  at: string;
  memory: Memory;
  before: string | null;
  after: string | null;
  replaced_id: string | null;
  changed_by: string | null;
  undone_at: string | null;
}

export interface TimelinePage {
  data: TimelineEntry[];
  next_cursor: Cursor | null;
}

/** Which title may be replaced. */
export interface TitleRequest {
  /** A title that the caller has given until there is a better one: it is replaced. Any other title stays. */
  replaces?: Name | null | undefined;
}

/** A message in the format of the AI SDK. */
export interface UiMessage {
  role: "system" | "user" | "assistant";
  parts: UiPart[];
  [name: string]: unknown;
}

/** One part of a message: `text` is read, `file` is an image or refused, and other types are ignored. */
export interface UiPart {
  type: string;
  text?: string | null | undefined;
  /**
   * Of a file: a data: URL with the contents of a PNG, JPEG, WebP or GIF image, at most four in a message. It is sent
   * to the model with this message, and not stored: the message keeps its name.
   */
  url?: string | null | undefined;
  /** Of a file. */
  mediaType?: string | null | undefined;
  /** Of a file. */
  filename?: string | null | undefined;
  [name: string]: unknown;
}

/** How much a tenant stores, and its limits. */
export interface Usage {
  messages: number;
  sessions: number;
  projects: number;
  api_keys: number;
  limits: Limits;
  files: number;
  entries: number;
}

/**
 * How many sessions, of how many users, would begin to recall each other. `user_ids` are the first 100 of these users,
 * for an admin; None for any other caller.
 */
export interface VisibilityPreview {
  sessions: number;
  users: number;
  user_ids: string[] | null;
}
