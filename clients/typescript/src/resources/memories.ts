/** Memories, entities, profiles and users: what derives from messages. */

import type { Connection } from "../connection.js";
import type { Operations } from "../generated/operations.js";
import type {
  Activity,
  Appended,
  Entity,
  EntityChange,
  EntityDetail,
  EntityMention,
  EntitySplit,
  ErasedUser,
  ExtractionPreview,
  ExtractionPreviewRequest,
  Memory,
  MemoryChange,
  MemoryRevision,
  NewMemories,
  Profile,
  TimelineEntry,
} from "../generated/schemas.js";
import type { RequestOptions, WriteOptions } from "../options.js";
import { Pages } from "../pages.js";
import { own } from "../scope.js";
import { filterText, pagesOf, splitWait } from "./calls.js";
import type { ListQuery } from "./sessions.js";

type Query<Name extends keyof Operations> = Omit<Operations[Name]["query"], "cursor">;

export class Memories {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The memories of a session, oldest first. */
  list(sessionId: string, query: ListQuery<"list_memories"> = {}, options: RequestOptions = {}): Pages<Memory> {
    const path = { external_id: sessionId };
    const wanted = filterText(query);
    return pagesOf((cursor) => this.#connection.call("list_memories", { path, query: { ...wanted, cursor } }, options));
  }

  /** The memories of a project, or with `project_id: "none"` of no project; newest first. */
  ofProject(query: ListQuery<"list_project_memories"> = {}, options: RequestOptions = {}): Pages<Memory> {
    const wanted = filterText(query);
    return pagesOf((cursor) =>
      this.#connection.call("list_project_memories", { query: { ...wanted, cursor } }, options),
    );
  }

  /** What was learnt and what changed in a project, newest first. */
  timeline(
    projectId: string,
    query: Query<"list_project_timeline"> = {},
    options: RequestOptions = {},
  ): Pages<TimelineEntry> {
    const path = { project_id: projectId };
    return pagesOf((cursor) =>
      this.#connection.call("list_project_timeline", { path, query: { ...own(query), cursor } }, options),
    );
  }

  /** How many messages and memories of a project were stored on each of the last days. */
  async activity(
    projectId: string,
    query: Query<"get_project_activity"> = {},
    options: RequestOptions = {},
  ): Promise<Activity> {
    return await this.#connection.call("get_project_activity", { path: { project_id: projectId }, query }, options);
  }

  /** Add statements to a session; those that it has already are counted as duplicates. */
  async add(memories: NewMemories, options: WriteOptions = {}): Promise<Appended> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("add_memories", { body: memories, query }, rest);
  }

  async get(id: string, options: RequestOptions = {}): Promise<Memory> {
    return await this.#connection.call("get_memory", { path: { memory_id: id } }, options);
  }

  /** Change the given fields. A corrected text is never overwritten by an extraction. */
  async correct(id: string, change: MemoryChange, options: WriteOptions = {}): Promise<Memory> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("correct_memory", { path: { memory_id: id }, body: change, query }, rest);
  }

  /** Put the memory into every context of its pool; `unpin` undoes it. */
  async pin(id: string, options: WriteOptions = {}): Promise<Memory> {
    return await this.correct(id, { pinned: true }, options);
  }

  async unpin(id: string, options: WriteOptions = {}): Promise<Memory> {
    return await this.correct(id, { pinned: false }, options);
  }

  /** Declare the memory untrue: it is no longer recalled, and can be restored. */
  async retract(id: string, options: RequestOptions = {}): Promise<Memory> {
    return await this.#connection.call("retract_memory", { path: { memory_id: id } }, options);
  }

  /** Undo the last change. */
  async restore(id: string, options: RequestOptions = {}): Promise<Memory> {
    return await this.#connection.call("restore_memory", { path: { memory_id: id } }, options);
  }

  /** Every change, with who made it and when. */
  history(id: string, query: Query<"memory_history"> = {}, options: RequestOptions = {}): Pages<MemoryRevision> {
    const path = { memory_id: id };
    return pagesOf((cursor) => this.#connection.call("memory_history", { path, query: { ...own(query), cursor } }, options));
  }

  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("forget_memory", { path: { memory_id: id } }, options);
  }

  /** What an extraction would find in messages. Nothing is stored. */
  async preview(request: ExtractionPreviewRequest, options: RequestOptions = {}): Promise<ExtractionPreview> {
    return await this.#connection.call("preview_extraction", { body: request }, options);
  }
}

export class Entities {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The entities of a project. */
  list(query: ListQuery<"list_entities"> = {}, options: RequestOptions = {}): Pages<Entity> {
    const wanted = filterText(query);
    return pagesOf((cursor) => this.#connection.call("list_entities", { query: { ...wanted, cursor } }, options));
  }

  async get(id: string, options: RequestOptions = {}): Promise<EntityDetail> {
    return await this.#connection.call("get_entity", { path: { entity_id: id } }, options);
  }

  async change(id: string, change: EntityChange, options: WriteOptions = {}): Promise<EntityDetail> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("change_entity", { path: { entity_id: id }, body: change, query }, rest);
  }

  /** Merge this entity into another one of its project. */
  async merge(id: string, into: string, options: WriteOptions = {}): Promise<EntityDetail> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("merge_entity", { path: { entity_id: id }, body: { into }, query }, rest);
  }

  async split(id: string, parts: EntitySplit, options: WriteOptions = {}): Promise<EntityDetail> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("split_entity", { path: { entity_id: id }, body: parts, query }, rest);
  }

  /** Undo a merge, or a deletion. */
  async restore(id: string, options: WriteOptions = {}): Promise<EntityDetail> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("restore_entity", { path: { entity_id: id }, query }, rest);
  }

  /** Everything that mentions the entity. */
  mentions(id: string, query: ListQuery<"list_mentions"> = {}, options: RequestOptions = {}): Pages<EntityMention> {
    const path = { entity_id: id };
    const wanted = filterText(query);
    return pagesOf((cursor) => this.#connection.call("list_mentions", { path, query: { ...wanted, cursor } }, options));
  }

  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("delete_entity", { path: { entity_id: id } }, options);
  }
}

export class Profiles {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Stable facts of a user, each with the ids of its memories. */
  async ofUser(userId: string, query: Query<"get_user_profile"> = {}, options: RequestOptions = {}): Promise<Profile> {
    return await this.#connection.call("get_user_profile", { path: { user_id: userId }, query }, options);
  }

  async ofProject(
    projectId: string,
    query: Query<"get_project_profile"> = {},
    options: RequestOptions = {},
  ): Promise<Profile> {
    return await this.#connection.call("get_project_profile", { path: { project_id: projectId }, query }, options);
  }
}

export class Users {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The memories of a user, of all sessions. Needs an admin key. */
  memories(userId: string, query: ListQuery<"list_user_memories"> = {}, options: RequestOptions = {}): Pages<Memory> {
    const path = { user_id: userId };
    const wanted = filterText(query);
    return pagesOf((cursor) =>
      this.#connection.call("list_user_memories", { path, query: { ...wanted, cursor } }, options),
    );
  }

  /** What was learnt of a user and what changed, newest first. Needs an admin key. */
  timeline(
    userId: string,
    query: Query<"list_user_timeline"> = {},
    options: RequestOptions = {},
  ): Pages<TimelineEntry> {
    const path = { user_id: userId };
    return pagesOf((cursor) =>
      this.#connection.call("list_user_timeline", { path, query: { ...own(query), cursor } }, options),
    );
  }

  /** How many messages and memories of a user were stored on each of the last days. Needs an admin key. */
  async activity(
    userId: string,
    query: Query<"get_user_activity"> = {},
    options: RequestOptions = {},
  ): Promise<Activity> {
    return await this.#connection.call("get_user_activity", { path: { user_id: userId }, query }, options);
  }

  /** Erase everything of a user. Needs an admin key. With `dryRun` nothing is changed. */
  async erase(userId: string, options: RequestOptions & { dryRun?: boolean } = {}): Promise<ErasedUser> {
    const { dryRun, ...rest } = options;
    const query = "dryRun" in options ? { dry_run: dryRun as boolean } : {};
    return await this.#connection.call("erase_user", { path: { user_id: userId }, query }, rest);
  }
}
