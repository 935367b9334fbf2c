// Made by `python clients/typescript/generate.py` from the OpenAPI document; a test compares the two.

import type {
  Activity,
  AdminKey,
  Alive,
  ApiKeyPage,
  Appended,
  Audit,
  ChatRequest,
  ChosenBranch,
  Context,
  ContextRequest,
  CreatedKey,
  Cursor,
  DeletedProject,
  EntityChange,
  EntityDetail,
  EntityId,
  EntityMerge,
  EntityPage,
  EntitySplit,
  EntryOperations,
  EntryResults,
  Episode,
  ErasedTenant,
  ErasedUser,
  Exclusion,
  ExclusionPage,
  ExplainRequest,
  Explanation,
  Extraction,
  ExtractionPreview,
  ExtractionPreviewRequest,
  FileAnswer,
  FileChange,
  FileView,
  Forgotten,
  HitList,
  ImportPreview,
  Imported,
  ItemList,
  ItemPage,
  KeyId,
  Memory,
  MemoryChange,
  MemoryId,
  MemoryPage,
  MemoryToolScope,
  MemoryToolSession,
  MentionPage,
  Message,
  MessageId,
  MessageList,
  MessagePage,
  MessageToRecord,
  ModelTest,
  MovePreview,
  Name,
  NewApiKey,
  NewEpisode,
  NewExclusion,
  NewItems,
  NewMemories,
  NewMessages,
  NewProject,
  NewSession,
  NewTenant,
  ObservationId,
  ObservationPage,
  Profile,
  Project,
  ProjectChange,
  ProjectId,
  ProjectPage,
  Ready,
  Receipt,
  ReceiptPrompt,
  Removed,
  Retention,
  RevisionPage,
  SearchRequest,
  Session,
  SessionChange,
  SessionPage,
  Stopped,
  Tenant,
  TenantId,
  TenantPage,
  TenantSettings,
  TenantSettingsInput,
  Time,
  TimelinePage,
  TitleRequest,
  Usage,
  VisibilityPreview,
} from "./schemas.js";

/**
 * `repeat` says when a request whose outcome is unknown may be sent again: `always` for reads, `with-key` if it has an
 * idempotency key, else `never`.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  readonly repeat: "always" | "with-key" | "never";
  readonly answer: "json" | "stream";
  /** The headers that a caller may give. */
  readonly headers?: readonly string[];
}

/** A body or an answer that is read while it arrives. */
export type Streamed = ReadableStream<Uint8Array>;

/** What each operation takes and answers. */
export interface Operations {
  /**
   * Ask the configured model for one short reply, for at most 20 seconds. A model that does not answer is no error of
   * this request: `ok` is false then, and `detail` says why. Needs the permission `admin`.
   */
  test_model: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: ModelTest;
  };
  /** Create a tenant, with its default project and its first admin key. Needs the operator's key. */
  create_tenant: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: NewTenant;
    answer: Tenant;
  };
  /** List tenants, oldest first, with counts of what they store. Needs the operator's key. */
  list_tenants: {
    path: Record<never, never>;
    query: { limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: TenantPage;
  };
  /** List projects, oldest first. Needs the permission `read`. */
  list_projects: {
    path: Record<never, never>;
    query: { limit?: number | undefined; cursor?: Cursor | undefined; name?: Name | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: ProjectPage;
  };
  /**
   * Create a project. A name that another project has, ignoring case, is refused with 409, unless
   * `allow_duplicate_name` is true. Needs the permission `admin`.
   */
  create_project: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: NewProject;
    answer: Project;
  };
  /** Get one project. Needs the permission `read`. */
  get_project: {
    path: { project_id: ProjectId };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Project;
  };
  /**
   * Rename a project, make it the default, change whether its members recall each other's messages, or change its
   * settings. Fields that are not given stay as they are. With `dry_run=true` nothing is changed: the answer is how
   * many sessions, of how many users, would newly recall each other, and who these users are; of a change of
   * `settings.retention_days`, what would be forgotten. Needs the permission `admin`.
   */
  change_project: {
    path: { project_id: ProjectId };
    query: { dry_run?: boolean };
    headers: Record<never, never>;
    body: ProjectChange;
    answer: Project | VisibilityPreview | Retention;
  };
  /**
   * Delete a project. Its sessions are in no project then, with all their messages; with `contents=delete` they are
   * deleted too, with everything else in the project, and `deleted` says how much. With `dry_run=true` nothing is
   * changed: the answer is how much would move, and who would recall it there, or how much would be deleted. Needs the
   * permission `admin`.
   */
  delete_project: {
    path: { project_id: ProjectId };
    query: { contents?: "keep" | "delete" | undefined; dry_run?: boolean };
    headers: Record<never, never>;
    body: undefined;
    answer: DeletedProject;
  };
  /** List the sessions of a project, most recent activity first. Needs the permission `read`. */
  list_project_sessions: {
    path: { project_id: ProjectId };
    query: { pinned?: boolean | undefined; archived?: boolean | undefined; limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: SessionPage;
  };
  /** List the keys that are not revoked, oldest first, without the keys themselves. Needs the permission `admin`. */
  list_api_keys: {
    path: Record<never, never>;
    query: { limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: ApiKeyPage;
  };
  /**
   * Create a key. `key` is shown only in this answer. With `project_id` the key is pinned: its requests need no
   * `X-Project-ID`; with `confined` too it has no access to other projects. With `user_id` it has access to that user's
   * sessions only. Needs the permission `admin`.
   */
  create_api_key: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: NewApiKey;
    answer: CreatedKey;
  };
  /**
   * Revoke a key, with immediate effect. The last admin key without an expiry cannot be revoked (409): create another
   * first. Needs the permission `admin`.
   */
  revoke_api_key: {
    path: { key_id: KeyId };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: undefined;
  };
  /** Get the tenant's counts and limits. Needs the permission `read`. */
  get_usage: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Usage;
  };
  /** Get the settings that apply to all projects of the tenant, and outside them. Needs the permission `admin`. */
  get_tenant_settings: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: TenantSettings;
  };
  /**
   * Change the tenant's settings. Fields that are not given stay as they are. What a setting of a project is stricter
   * in still applies there. Needs the permission `admin`.
   */
  change_tenant_settings: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: TenantSettingsInput;
    answer: TenantSettings;
  };
  /**
   * Forget now what is older than the tenant and its projects keep, in all projects and outside them, as the server's
   * worker does every few minutes. `certificate` says what went, by kind and id, and the checks made afterwards. With
   * `dry_run=true` it is counted, and nothing is changed. Needs the permission `admin`.
   */
  apply_tenant_retention: {
    path: Record<never, never>;
    query: { dry_run?: boolean; retention_days?: number | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: Retention;
  };
  /**
   * Forget now what is older than the project or its tenant keeps, as the server's worker does every few minutes.
   * `certificate` says what went, by kind and id, and the checks made afterwards. With `dry_run=true` it is counted,
   * and nothing is changed. Needs the permission `admin`.
   */
  apply_project_retention: {
    path: { project_id: ProjectId };
    query: { dry_run?: boolean; retention_days?: number | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: Retention;
  };
  /**
   * Erase everything of a user, in all projects and in no project: sessions, their messages, everything derived from
   * these, and the keys that are bound to the user. For an unknown user all counts are 0. With `dry_run=true` nothing
   * is changed, and the answer is what would be erased. Needs the permission `admin`.
   */
  erase_user: {
    path: { user_id: Name };
    query: { dry_run?: boolean };
    headers: Record<never, never>;
    body: undefined;
    answer: ErasedUser;
  };
  /**
   * Erase a tenant with everything in it. Its keys are no longer valid. With `dry_run=true` nothing is changed, and the
   * answer is what would be erased. The tenant `local`, which belongs to the installation, cannot be erased. Needs the
   * operator's key.
   */
  erase_tenant: {
    path: { tenant_id: TenantId };
    query: { dry_run?: boolean };
    headers: Record<never, never>;
    body: undefined;
    answer: ErasedTenant;
  };
  /**
   * Create an admin key for a tenant that has lost its own. `key` is shown only in this answer. Needs the operator's
   * key.
   */
  create_tenant_key: {
    path: { tenant_id: TenantId };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: AdminKey;
  };
  /**
   * Export everything of the tenant, of a project or of a user as an archive: JSON lines, read from one snapshot of the
   * database, with counts and hashes in the last line. It has no keys. Only admin keys export, except that a key that
   * is bound to a user exports that user; if it is confined too, what that user has in its project. An admin key that
   * is confined to a project exports that project. For an unknown user the archive is empty. Needs the permission
   * `read`.
   */
  export_archive: {
    path: Record<never, never>;
    query: { scope?: "tenant" | "project" | "user" | undefined; id?: Name | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: Streamed;
  };
  /**
   * Import an archive, or a stream of conversations, sent as `application/x-ndjson`. It may be of any length; a line
   * has at most 2 MiB. What is there already stays as it is, so that importing twice changes nothing. Everything goes
   * into the caller's tenant, and within the reach of its key. An archive that is damaged or does not fit is refused
   * where that is noticed; what was imported before stays, and a repeated import adds the rest. Needs the permission
   * `admin`.
   */
  import_archive: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: Streamed;
    answer: Imported;
  };
  /**
   * Import a file that another assistant exported, sent as it is: the conversations of ChatGPT or Claude (JSON, or the
   * zip file), memories of mem0, or a log of messages; of at most 512 MiB. With `dry_run=true` nothing is stored, and
   * the answer is what is in it. Everything goes into one project, within the reach of the key. What is there already
   * stays as it is, so that a newer export adds the new messages only. An archive of a Cloister is imported with `POST
   * /v1/import`. Needs the permission `admin`.
   */
  import_file: {
    path: Record<never, never>;
    query: { project_id: string; filename?: Name | undefined; format?: string | undefined; user_id?: Name; modified_at?: Time | undefined; dry_run?: boolean };
    headers: Record<never, never>;
    body: Streamed;
    answer: Imported | ImportPreview;
  };
  /**
   * Check the isolation of this server from inside the caller's tenant: make projects, users, sessions and keys with
   * markers, ask for them through every interface, and remove them again. `crossings` counts the answers that showed
   * what they must not. Nothing that was there before is changed; events of the audit's sessions are published, and its
   * messages count towards the quota while it runs. Not for a key that is confined to a project. Needs the permission
   * `admin`.
   */
  audit_tenant: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Audit;
  };
  /**
   * Check the isolation of this server with two tenants of the audit's own, which are erased at its end. Needs the
   * operator's key.
   */
  audit_server: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Audit;
  };
  /**
   * Create a session. Without `project_id` it is in the project of the request; with `null` in no project. An existing
   * `external_id` with equal fields is answered with that session and 200. Needs the permission `write`.
   */
  create_session: {
    path: Record<never, never>;
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: NewSession;
    answer: Session;
  };
  /**
   * List sessions, most recent activity first: of one project, with `project_id=none` of no project, or without
   * `project_id` of the project that the header or the key names, else of all. Needs the permission `read`.
   */
  list_sessions: {
    path: Record<never, never>;
    query: { project_id?: string; user_id?: Name; pinned?: boolean | undefined; archived?: boolean | undefined; external_id?: Name | undefined; limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: SessionPage;
  };
  /** Get one session. Needs the permission `read`. */
  get_session: {
    path: { external_id: Name };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Session;
  };
  /**
   * Change the given fields. `project_id: null` takes the session out of its project; its messages move along, except
   * for what replies quote from the pool that it leaves. With `dry_run=true` nothing is changed: the answer is how much
   * would move, how many replies were given text of that pool, and who would recall it then; this needs the permission
   * `read` too. `pinned`, `archived`, `system_prompt` and `model` are no activity: `updated_at` stays. A system prompt
   * without placeholders is stored with a warning. Needs the permission `write`.
   */
  change_session: {
    path: { external_id: Name };
    query: { wait?: "indexed" | undefined; dry_run?: boolean };
    headers: Record<never, never>;
    body: SessionChange;
    answer: Session | MovePreview;
  };
  /**
   * Delete a session, with its messages and everything derived from them. The certificate says what went, by kind and
   * id, and the checks made afterwards. With `dry_run=true` nothing is changed, and `would_remove` says what would go;
   * this needs the permission `read` too. Needs the permission `write`.
   */
  delete_session: {
    path: { external_id: Name };
    query: { dry_run?: boolean };
    headers: Record<never, never>;
    body: undefined;
    answer: Forgotten;
  };
  /**
   * Delete the messages of a session and everything derived from them; the session stays. `certificate`, `dry_run` and
   * `would_remove` are as when a session is deleted. `project_id` and `user_id` need the permission `read` too. Needs
   * the permission `write`.
   */
  clear_session: {
    path: { external_id: Name };
    query: { dry_run?: boolean; project_id?: string; user_id?: Name };
    headers: Record<never, never>;
    body: undefined;
    answer: Forgotten;
  };
  /**
   * Append a message to a session. It is durable when this answers. `project_id` and `user_id` need the permission
   * `read` too. Needs the permission `write`.
   */
  record_message: {
    path: { external_id: Name };
    query: { wait?: "indexed" | undefined; project_id?: string; user_id?: Name };
    headers: Record<never, never>;
    body: MessageToRecord;
    answer: Message;
  };
  /**
   * List the messages of a session's current branch, in chronological order: from its beginning, or after, before or
   * around a message; with `before=end` the last ones. With `branch=all` those of all branches, by their ids. With a
   * `cursor`, `after`, `before` and `around` are ignored. Needs the permission `read`.
   */
  list_messages: {
    path: { external_id: Name };
    query: { limit?: number | undefined; cursor?: Cursor | undefined; after?: MessageId | undefined; before?: string | undefined; around?: MessageId | undefined; receipts?: boolean | undefined; filter?: string | undefined; branch?: "current" | "all" | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: MessagePage;
  };
  /**
   * Append up to 1,000 messages in one transaction: all or none. `project_id` and `user_id` need the permission `read`
   * too. Needs the permission `write`.
   */
  record_messages: {
    path: { external_id: Name };
    query: { wait?: "indexed" | undefined; project_id?: string; user_id?: Name };
    headers: Record<never, never>;
    body: NewMessages;
    answer: MessageList;
  };
  /**
   * Make the branch that contains a message the current one, down to the newest message below it. The messages of other
   * branches are kept, but not recalled. If the message is on the current branch, nothing changes. Refused with
   * `turn_in_progress` while a reply is being made. Needs the permission `read` too. Needs the permission `write`.
   */
  choose_branch: {
    path: { external_id: Name };
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: ChosenBranch;
    answer: Session;
  };
  /**
   * Delete one message, with the memories and observations derived from it. With `dry_run=true` nothing is changed;
   * this needs the permission `read` too. Needs the permission `write`.
   */
  forget_message: {
    path: { message_id: MessageId };
    query: { dry_run?: boolean };
    headers: Record<never, never>;
    body: undefined;
    answer: Removed;
  };
  /**
   * Append a message of the user and its reply, which together are an episode. `project_id` and `user_id` need the
   * permission `read` too. Needs the permission `write`.
   */
  record_episode: {
    path: Record<never, never>;
    query: { wait?: "indexed" | undefined; project_id?: string; user_id?: Name };
    headers: Record<never, never>;
    body: NewEpisode;
    answer: Episode;
  };
  /**
   * Give a session a title that the chat model makes of its first exchange, of at most eight words. A session that has
   * a title keeps it, unless that is `replaces`; then, and if the title or the first messages change while the model
   * answers, the answer is the session as it is. A title is no activity: `updated_at` stays. Needs the permission
   * `read` too. Without a finished reply it is refused with `conflict`, and without a model with `model_unavailable`.
   * Needs the permission `write`.
   */
  title_session: {
    path: { external_id: Name };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: TitleRequest;
    answer: Session;
  };
  /**
   * List the items of a session: its messages, whichever way they were recorded, and tool calls, their outputs and
   * other items between them. An item is as it was added. Needs the permission `read`.
   */
  list_items: {
    path: { external_id: Name };
    query: { limit?: number | undefined; cursor?: Cursor | undefined; order?: "asc" | "desc" | undefined; project_id?: string; user_id?: Name };
    headers: Record<never, never>;
    body: undefined;
    answer: ItemPage;
  };
  /**
   * Append items to a session, all or none. Messages of the user and of the assistant are recorded, and can be
   * recalled; other items are stored as they are. `project_id` and `user_id` need the permission `read` too. Needs the
   * permission `write`.
   */
  add_items: {
    path: { external_id: Name };
    query: { project_id?: string; user_id?: Name };
    headers: Record<never, never>;
    body: NewItems;
    answer: ItemList;
  };
  /**
   * Forget one item; with a message go all that derives from it, and the items directly after it. `project_id` and
   * `user_id` need the permission `read` too. Needs the permission `write`.
   */
  forget_item: {
    path: { external_id: Name; item_id: string };
    query: { project_id?: string; user_id?: Name };
    headers: Record<never, never>;
    body: undefined;
    answer: undefined;
  };
  /**
   * Find the session whose files a memory tool without a session uses: one for each project and user, under a name that
   * is the same for each caller of that scope and cannot be guessed by others. It need not exist: create it with these
   * fields. Needs the permission `read`.
   */
  find_memory_tool_session: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: MemoryToolScope;
    answer: MemoryToolSession;
  };
  /**
   * View a directory or a file that an assistant stored in this session, as Anthropic's memory tool shows it. What
   * cannot be shown is said in the answer, which is for the assistant. Needs the permission `read`.
   */
  view_files: {
    path: { external_id: Name };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: FileView;
    answer: FileAnswer;
  };
  /**
   * Carry out a command of Anthropic's memory tool on the files of a session, which are in the pool that the session is
   * in, and are deleted with it. A command that cannot be carried out is no error of the request: the answer says so to
   * the assistant. Needs the permission `read` too. Needs the permission `write`.
   */
  change_files: {
    path: { external_id: Name };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: FileChange;
    answer: FileAnswer;
  };
  /** List the memories of a session, oldest first, whatever their status. Needs the permission `read`. */
  list_memories: {
    path: { external_id: Name };
    query: { limit?: number | undefined; cursor?: Cursor | undefined; after?: MemoryId | undefined; filter?: string | undefined; status?: "active" | "superseded" | "expired" | "retracted" | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: MemoryPage;
  };
  /**
   * List the memories of a user, merged across sessions, oldest first, for display and audit: in the project that the
   * header or the key names, else in all. Needs the permission `admin`.
   */
  list_user_memories: {
    path: { user_id: Name };
    query: { limit?: number | undefined; cursor?: Cursor | undefined; after?: MemoryId | undefined; filter?: string | undefined; status?: "active" | "superseded" | "expired" | "retracted" | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: MemoryPage;
  };
  /**
   * Add memories by hand. One that the session has already, apart from case, spacing or punctuation, is counted and not
   * added. `categories`, `metadata` and `importance` are those of each that is added. Needs the permission `write`.
   */
  add_memories: {
    path: Record<never, never>;
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: NewMemories;
    answer: Appended;
  };
  /**
   * List the memories of the project of the request, or of the project `project_id`, newest first, whatever their
   * status. Equal memories of several sessions are listed once. Needs the permission `read`.
   */
  list_project_memories: {
    path: Record<never, never>;
    query: { project_id?: string; user_id?: Name; users?: "all" | undefined; status?: "active" | "superseded" | "expired" | "retracted" | undefined; pinned?: boolean | undefined; query?: Name | undefined; filter?: string | undefined; limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: MemoryPage;
  };
  /**
   * Forget one memory. Its source messages stay, and memories are not extracted from them again. With `dry_run=true`
   * nothing is changed; this needs the permission `read` too. Needs the permission `write`.
   */
  forget_memory: {
    path: { memory_id: MemoryId };
    query: { dry_run?: boolean };
    headers: Record<never, never>;
    body: undefined;
    answer: Removed;
  };
  /** Return one memory, whatever its status. Needs the permission `read`. */
  get_memory: {
    path: { memory_id: MemoryId };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Memory;
  };
  /**
   * Correct a memory, pin it, or let it expire. No extraction overwrites or supersedes a memory that was corrected or
   * pinned. Needs the permission `read` too, since the answer contains the memory. Needs the permission `write`.
   */
  correct_memory: {
    path: { memory_id: MemoryId };
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: MemoryChange;
    answer: Memory;
  };
  /**
   * Extract memories, entities and observations from new messages now, and answer when that is done. The server does so
   * by itself after every few replies; if an extraction is running, this waits for its end, up to ten seconds. Needs
   * the permission `write`.
   */
  extract: {
    path: { external_id: Name };
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: Extraction;
  };
  /**
   * Show what an extraction would keep of up to 1,000 messages in a project, and store nothing: with `project_id` in
   * that project, with `null` in none, and without it in the project of the request, else in the default project. Needs
   * the permission `read` too, since the answer shows what the project's settings keep. Needs the permission `write`.
   */
  preview_extraction: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: ExtractionPreviewRequest;
    answer: ExtractionPreview;
  };
  /**
   * List the observations of a session, which summarise messages before its recent ones, in chronological order. Needs
   * the permission `read`.
   */
  list_observations: {
    path: { external_id: Name };
    query: { limit?: number | undefined; cursor?: Cursor | undefined; after?: ObservationId | undefined; filter?: string | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: ObservationPage;
  };
  /**
   * Retract a memory that was never true. It is no longer recalled, no extraction brings it back, and what it
   * superseded is true again. It stays in lists, with its status, until it is deleted. Needs the permission `read` too.
   * Needs the permission `write`.
   */
  retract_memory: {
    path: { memory_id: MemoryId };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Memory;
  };
  /**
   * Undo the last correction or retraction of a memory, within a day of it. Needs the permission `read` too. Needs the
   * permission `write`.
   */
  restore_memory: {
    path: { memory_id: MemoryId };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Memory;
  };
  /**
   * List the changes of a memory, oldest first: who made each, when, and what was before. The first is its creation.
   * Needs the permission `read`.
   */
  memory_history: {
    path: { memory_id: MemoryId };
    query: { limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: RevisionPage;
  };
  /**
   * Get the stable facts of a user that are true now, in the project of the request or in the project `project_id`:
   * grouped, each with its memories, within a token budget. `text` is the same as quoted data for a prompt. For an
   * unknown user it is empty. Needs the permission `read`.
   */
  get_user_profile: {
    path: { user_id: Name };
    query: { budget_tokens?: number | undefined; project_id?: string };
    headers: Record<never, never>;
    body: undefined;
    answer: Profile;
  };
  /**
   * Get what a project knows: its pinned memories, its decisions, and the entities that are mentioned most, which have
   * no memories, within a token budget. Needs the permission `read`.
   */
  get_project_profile: {
    path: { project_id: ProjectId };
    query: { budget_tokens?: number | undefined; user_id?: Name };
    headers: Record<never, never>;
    body: undefined;
    answer: Profile;
  };
  /**
   * List what was learnt and what changed in a project, newest first. What was forgotten is not listed. Needs the
   * permission `read`.
   */
  list_project_timeline: {
    path: { project_id: ProjectId };
    query: { user_id?: Name; users?: "all" | undefined; limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: TimelinePage;
  };
  /**
   * List what was learnt of a user and what changed, newest first, for display and audit: in the project that the
   * header or the key names, else in all. Needs the permission `admin`.
   */
  list_user_timeline: {
    path: { user_id: Name };
    query: { limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: TimelinePage;
  };
  /**
   * Count the messages and memories of a project that were stored on each of the last days, the oldest first. Needs the
   * permission `read`.
   */
  get_project_activity: {
    path: { project_id: ProjectId };
    query: { user_id?: Name; users?: "all" | undefined; days?: number | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: Activity;
  };
  /**
   * Count the messages and memories of a user that were stored on each of the last days, the oldest first: in the
   * project that the header or the key names, else in all. Needs the permission `admin`.
   */
  get_user_activity: {
    path: { user_id: Name };
    query: { days?: number | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: Activity;
  };
  /**
   * List the entities of the project of the request, or of the project `project_id`, oldest first. Entities exist in
   * projects only. Needs the permission `read`.
   */
  list_entities: {
    path: Record<never, never>;
    query: { project_id?: ProjectId; user_id?: Name; limit?: number | undefined; cursor?: Cursor | undefined; after?: EntityId | undefined; filter?: string | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: EntityPage;
  };
  /**
   * Return an entity with the other names that it is known by, its relations to other entities, and the latest messages
   * that mention it. Needs the permission `read`.
   */
  get_entity: {
    path: { entity_id: EntityId };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: EntityDetail;
  };
  /**
   * Correct the name, type, notes or aliases of an entity, which no extraction changes back; or, in a request of its
   * own, move it to another project with `project_id`. If that project has an entity of the same name, the two are
   * merged under the id of that one. Needs the permission `read` too, since the answer contains the entity, and `admin`
   * if the entity is moved to another user's part of a project. Needs the permission `write`.
   */
  change_entity: {
    path: { entity_id: EntityId };
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: EntityChange;
    answer: EntityDetail;
  };
  /**
   * Delete an entity. The messages that mention it stay. It can be restored for a day; then it is removed. A message
   * that mentions it later makes a new entity. With `dry_run=true` nothing is changed; this needs the permission `read`
   * too. Needs the permission `write`.
   */
  delete_entity: {
    path: { entity_id: EntityId };
    query: { dry_run?: boolean };
    headers: Record<never, never>;
    body: undefined;
    answer: Removed;
  };
  /**
   * List the messages that mention an entity, the last extracted first. Only those that are in the entity's project
   * now, and in a project with private members in the same user's part. Needs the permission `read`.
   */
  list_mentions: {
    path: { entity_id: EntityId };
    query: { limit?: number | undefined; cursor?: Cursor | undefined; filter?: string | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: MentionPage;
  };
  /**
   * Make an entity part of another one of the same project, `into`, whose id and name stay. Needs the permission `read`
   * too. Needs the permission `write`.
   */
  merge_entity: {
    path: { entity_id: EntityId };
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: EntityMerge;
    answer: EntityDetail;
  };
  /**
   * Split off aliases, or the mentions in some messages under a new name, as an entity of their own, which is the
   * answer. Needs the permission `read` too. Needs the permission `write`.
   */
  split_entity: {
    path: { entity_id: EntityId };
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: EntitySplit;
    answer: EntityDetail;
  };
  /**
   * Undo the last merge, split or deletion of an entity, or with it, of the last day. What was forgotten since then
   * stays forgotten. Needs the permission `read` too. Needs the permission `write`.
   */
  restore_entity: {
    path: { entity_id: EntityId };
    query: { wait?: "indexed" | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: EntityDetail;
  };
  /**
   * Build the context of a reply: the recent messages of a session, messages of its pool that match the query,
   * memories, entities of the project, and observations. Without `query`, the user's last message is the query.
   * `memory_context` is the memories as text for a prompt: quoted, and marked as data and not as instructions. Needs
   * the permission `read`.
   */
  build_context: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: ContextRequest;
    answer: Context;
  };
  /**
   * Find episodes, memories and entities: in the project of the request, with `session_id` in the scope of that
   * session, with `project_id` in that project, or with `null` in no project. Hits below `min_relevance` are left out.
   * Needs the permission `read`.
   */
  search: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: SearchRequest;
    answer: HitList;
  };
  /**
   * Get a receipt: what a reply, a context or a search was given, by which rule, and how many candidates were left out,
   * for which reason. The receipt of the reply `msg_…` is `rcpt_…` with the same digits. Words are looked up now: what
   * was forgotten, or is in another project, is only counted, and so is everything after the session has moved. Needs
   * the permission `read`.
   */
  get_receipt: {
    path: { receipt_id: string };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Receipt;
  };
  /**
   * Get the prompt of a reply, message by message, from its receipt. Words are looked up now, as in the receipt: what
   * was forgotten, or is in another project, is not in it. `is_exact` says whether this is what the model got, and
   * `missing` what is not. A receipt of a context or a search has no prompt: 409. Needs the permission `read`.
   */
  get_receipt_prompt: {
    path: { receipt_id: string };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: ReceiptPrompt;
  };
  /**
   * List what a session does not recall although it is in its pool, the oldest exclusion first. What is in another pool
   * now is not listed. Needs the permission `read`.
   */
  list_exclusions: {
    path: { external_id: Name };
    query: { limit?: number | undefined; cursor?: Cursor | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: ExclusionPage;
  };
  /**
   * Exclude a message, a memory or an entity from what this session recalls, in contexts, searches and chat: others
   * take its place. Other sessions recall it as before. What is excluded already stays so; at most 200 items. What the
   * session cannot recall is `not_found`, whether it exists or not. Needs the permission `read` too. Needs the
   * permission `write`.
   */
  exclude: {
    path: { external_id: Name };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: NewExclusion;
    answer: Exclusion;
  };
  /** Let a session recall again what it excludes. Needs the permission `write`. */
  include: {
    path: { external_id: Name; item_id: string };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: undefined;
  };
  /**
   * Explain why a message is recalled, or not, in a session for a query; or why it was, or was not, by a receipt, and
   * what is different now. A message that the session cannot recall is `not_found`, whether it exists or not. Needs the
   * permission `read`.
   */
  explain: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: ExplainRequest;
    answer: Explanation;
  };
  /**
   * Get and search entries of the key-value store, and list its namespaces. One result for each operation: an entry or
   * null, or a list. An entry with a time to live is kept longer by being read, if the key may write. Needs the
   * permission `read`.
   */
  read_entries: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: EntryOperations;
    answer: EntryResults;
  };
  /**
   * Put and delete entries of the key-value store, all or none, after the reads of the same batch, which need the
   * permission `read` too. Needs the permission `write`.
   */
  write_entries: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: EntryOperations;
    answer: EntryResults;
  };
  /**
   * Record a message of the user, and stream the reply as a UI message stream of the AI SDK: `start`, `data-context`
   * with what was recalled and from where, `text-start`, `text-delta`, `text-end`, `finish`, and `[DONE]`. The user's
   * message is durable before the first event. The reply is completed and stored even if the client disconnects. A
   * failure after the first byte is an `error` event; the reply is then stored as `partial` or `failed`. A session has
   * one turn at a time: a second one is refused with `turn_in_progress`. Needs the permission `read` too. Needs the
   * permission `write`.
   */
  chat: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: { "X-Model-Key"?: string | undefined };
    body: ChatRequest;
    answer: Streamed;
  };
  /**
   * Follow the turn that is running in a session, from its start; 204 if there is none that this caller may read. What
   * was recalled is shown as far as it has not been forgotten since. Needs the permission `read`.
   */
  follow_chat: {
    path: { external_id: Name };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Streamed | undefined;
  };
  /**
   * Stop the turn that is running in a session. When this answers, what the reply has said so far is stored as
   * `partial`. Needs the permission `read` too. Needs the permission `write`.
   */
  stop_chat: {
    path: { external_id: Name };
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Stopped;
  };
  /**
   * Subscribe to `session.created`, `session.changed`, `session.deleted`, `message.added`, `turn.started` and
   * `turn.finished`, of the project that the header or the key names, else of all. Events carry ids and never contents.
   * A session that moves out of the caller's reach is reported as deleted. A stream begins with `ready`; `reset` means
   * that events were missed: read again what you show. Needs the permission `read`.
   */
  follow_events: {
    path: Record<never, never>;
    query: { user_id?: Name; last_event_id?: string | undefined };
    headers: Record<never, never>;
    body: undefined;
    answer: Streamed;
  };
  /** Liveness: the process answers requests. */
  livez: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Alive;
  };
  /**
   * Readiness: the database can be read, its schema is the one of this version, and the last write of this process
   * succeeded. After a failed write it answers why until a write succeeds; the server tries one by itself. Counts over
   * all tenants that cannot be made do not make it fail.
   */
  readyz: {
    path: Record<never, never>;
    query: Record<never, never>;
    headers: Record<never, never>;
    body: undefined;
    answer: Ready;
  };
}

export const ROUTES: { readonly [name in keyof Operations]: Route } = {
  test_model: { method: "POST", path: "/org/model/test", repeat: "never", answer: "json" },
  create_tenant: { method: "POST", path: "/operator/tenants", repeat: "with-key", answer: "json" },
  list_tenants: { method: "GET", path: "/operator/tenants", repeat: "always", answer: "json" },
  list_projects: { method: "GET", path: "/org/projects", repeat: "always", answer: "json" },
  create_project: { method: "POST", path: "/org/projects", repeat: "with-key", answer: "json" },
  get_project: { method: "GET", path: "/org/projects/{project_id}", repeat: "always", answer: "json" },
  change_project: { method: "PATCH", path: "/org/projects/{project_id}", repeat: "never", answer: "json" },
  delete_project: { method: "DELETE", path: "/org/projects/{project_id}", repeat: "never", answer: "json" },
  list_project_sessions: { method: "GET", path: "/org/projects/{project_id}/sessions", repeat: "always", answer: "json" },
  list_api_keys: { method: "GET", path: "/org/api-keys", repeat: "always", answer: "json" },
  create_api_key: { method: "POST", path: "/org/api-keys", repeat: "with-key", answer: "json" },
  revoke_api_key: { method: "DELETE", path: "/org/api-keys/{key_id}", repeat: "never", answer: "json" },
  get_usage: { method: "GET", path: "/org/usage", repeat: "always", answer: "json" },
  get_tenant_settings: { method: "GET", path: "/org/settings", repeat: "always", answer: "json" },
  change_tenant_settings: { method: "PATCH", path: "/org/settings", repeat: "never", answer: "json" },
  apply_tenant_retention: { method: "POST", path: "/org/retention", repeat: "never", answer: "json" },
  apply_project_retention: { method: "POST", path: "/org/projects/{project_id}/retention", repeat: "never", answer: "json" },
  erase_user: { method: "DELETE", path: "/v1/users/{user_id}", repeat: "never", answer: "json" },
  erase_tenant: { method: "DELETE", path: "/operator/tenants/{tenant_id}", repeat: "never", answer: "json" },
  create_tenant_key: { method: "POST", path: "/operator/tenants/{tenant_id}/keys", repeat: "with-key", answer: "json" },
  export_archive: { method: "GET", path: "/v1/export", repeat: "always", answer: "stream" },
  import_archive: { method: "POST", path: "/v1/import", repeat: "never", answer: "json" },
  import_file: { method: "POST", path: "/v1/import/file", repeat: "never", answer: "json" },
  audit_tenant: { method: "POST", path: "/v1/audit", repeat: "never", answer: "json" },
  audit_server: { method: "POST", path: "/operator/audit", repeat: "never", answer: "json" },
  create_session: { method: "POST", path: "/v1/sessions", repeat: "with-key", answer: "json" },
  list_sessions: { method: "GET", path: "/v1/sessions", repeat: "always", answer: "json" },
  get_session: { method: "GET", path: "/v1/sessions/{external_id}", repeat: "always", answer: "json" },
  change_session: { method: "PATCH", path: "/v1/sessions/{external_id}", repeat: "never", answer: "json" },
  delete_session: { method: "DELETE", path: "/v1/sessions/{external_id}", repeat: "never", answer: "json" },
  clear_session: { method: "POST", path: "/v1/sessions/{external_id}/clear", repeat: "never", answer: "json" },
  record_message: { method: "POST", path: "/v1/sessions/{external_id}/messages", repeat: "with-key", answer: "json" },
  list_messages: { method: "GET", path: "/v1/sessions/{external_id}/messages", repeat: "always", answer: "json" },
  record_messages: { method: "POST", path: "/v1/sessions/{external_id}/messages/batch", repeat: "with-key", answer: "json" },
  choose_branch: { method: "POST", path: "/v1/sessions/{external_id}/branch", repeat: "never", answer: "json" },
  forget_message: { method: "DELETE", path: "/v1/messages/{message_id}", repeat: "never", answer: "json" },
  record_episode: { method: "POST", path: "/v1/episodes", repeat: "with-key", answer: "json" },
  title_session: { method: "POST", path: "/v1/sessions/{external_id}/title", repeat: "never", answer: "json" },
  list_items: { method: "GET", path: "/v1/sessions/{external_id}/items", repeat: "always", answer: "json" },
  add_items: { method: "POST", path: "/v1/sessions/{external_id}/items", repeat: "with-key", answer: "json" },
  forget_item: { method: "DELETE", path: "/v1/sessions/{external_id}/items/{item_id}", repeat: "never", answer: "json" },
  find_memory_tool_session: { method: "POST", path: "/v1/memory-tool", repeat: "always", answer: "json" },
  view_files: { method: "POST", path: "/v1/sessions/{external_id}/files/view", repeat: "always", answer: "json" },
  change_files: { method: "POST", path: "/v1/sessions/{external_id}/files", repeat: "never", answer: "json" },
  list_memories: { method: "GET", path: "/v1/sessions/{external_id}/memories", repeat: "always", answer: "json" },
  list_user_memories: { method: "GET", path: "/v1/users/{user_id}/memories", repeat: "always", answer: "json" },
  add_memories: { method: "POST", path: "/v1/memories", repeat: "with-key", answer: "json" },
  list_project_memories: { method: "GET", path: "/v1/memories", repeat: "always", answer: "json" },
  forget_memory: { method: "DELETE", path: "/v1/memories/{memory_id}", repeat: "never", answer: "json" },
  get_memory: { method: "GET", path: "/v1/memories/{memory_id}", repeat: "always", answer: "json" },
  correct_memory: { method: "PATCH", path: "/v1/memories/{memory_id}", repeat: "never", answer: "json" },
  extract: { method: "POST", path: "/v1/sessions/{external_id}/extract", repeat: "never", answer: "json" },
  preview_extraction: { method: "POST", path: "/v1/extract/preview", repeat: "never", answer: "json" },
  list_observations: { method: "GET", path: "/v1/sessions/{external_id}/observations", repeat: "always", answer: "json" },
  retract_memory: { method: "POST", path: "/v1/memories/{memory_id}/retract", repeat: "never", answer: "json" },
  restore_memory: { method: "POST", path: "/v1/memories/{memory_id}/restore", repeat: "never", answer: "json" },
  memory_history: { method: "GET", path: "/v1/memories/{memory_id}/history", repeat: "always", answer: "json" },
  get_user_profile: { method: "GET", path: "/v1/users/{user_id}/profile", repeat: "always", answer: "json" },
  get_project_profile: { method: "GET", path: "/org/projects/{project_id}/profile", repeat: "always", answer: "json" },
  list_project_timeline: { method: "GET", path: "/org/projects/{project_id}/timeline", repeat: "always", answer: "json" },
  list_user_timeline: { method: "GET", path: "/v1/users/{user_id}/timeline", repeat: "always", answer: "json" },
  get_project_activity: { method: "GET", path: "/org/projects/{project_id}/activity", repeat: "always", answer: "json" },
  get_user_activity: { method: "GET", path: "/v1/users/{user_id}/activity", repeat: "always", answer: "json" },
  list_entities: { method: "GET", path: "/v1/entities", repeat: "always", answer: "json" },
  get_entity: { method: "GET", path: "/v1/entities/{entity_id}", repeat: "always", answer: "json" },
  change_entity: { method: "PATCH", path: "/v1/entities/{entity_id}", repeat: "never", answer: "json" },
  delete_entity: { method: "DELETE", path: "/v1/entities/{entity_id}", repeat: "never", answer: "json" },
  list_mentions: { method: "GET", path: "/v1/entities/{entity_id}/mentions", repeat: "always", answer: "json" },
  merge_entity: { method: "POST", path: "/v1/entities/{entity_id}/merge", repeat: "never", answer: "json" },
  split_entity: { method: "POST", path: "/v1/entities/{entity_id}/split", repeat: "never", answer: "json" },
  restore_entity: { method: "POST", path: "/v1/entities/{entity_id}/restore", repeat: "never", answer: "json" },
  build_context: { method: "POST", path: "/v1/context", repeat: "always", answer: "json" },
  search: { method: "POST", path: "/v1/search", repeat: "always", answer: "json" },
  get_receipt: { method: "GET", path: "/v1/receipts/{receipt_id}", repeat: "always", answer: "json" },
  get_receipt_prompt: { method: "GET", path: "/v1/receipts/{receipt_id}/prompt", repeat: "always", answer: "json" },
  list_exclusions: { method: "GET", path: "/v1/sessions/{external_id}/exclusions", repeat: "always", answer: "json" },
  exclude: { method: "POST", path: "/v1/sessions/{external_id}/exclusions", repeat: "never", answer: "json" },
  include: { method: "DELETE", path: "/v1/sessions/{external_id}/exclusions/{item_id}", repeat: "never", answer: "json" },
  explain: { method: "POST", path: "/v1/explain", repeat: "always", answer: "json" },
  read_entries: { method: "POST", path: "/v1/entries/read", repeat: "always", answer: "json" },
  write_entries: { method: "POST", path: "/v1/entries/write", repeat: "never", answer: "json" },
  chat: { method: "POST", path: "/v1/chat/stream", repeat: "never", answer: "stream", headers: ["X-Model-Key"] },
  follow_chat: { method: "GET", path: "/v1/chat/{external_id}/stream", repeat: "always", answer: "stream" },
  stop_chat: { method: "POST", path: "/v1/chat/{external_id}/stop", repeat: "never", answer: "json" },
  follow_events: { method: "GET", path: "/v1/events", repeat: "always", answer: "stream" },
  livez: { method: "GET", path: "/livez", repeat: "always", answer: "json" },
  readyz: { method: "GET", path: "/readyz", repeat: "always", answer: "json" },
};
