/** Sessions, and what was said in them. */

import type { Connection } from "../connection.js";
import type { Operations } from "../generated/operations.js";
import type {
  Episode,
  Extraction,
  Filter,
  Forgotten,
  Message,
  MessageToRecord,
  MovePreview,
  NewEpisode,
  NewMessage,
  NewSession,
  Observation,
  Session,
  SessionChange,
} from "../generated/schemas.js";
import type { RecordAllOptions, RequestOptions, WriteOptions } from "../options.js";
import { Pages } from "../pages.js";
import { own } from "../scope.js";
import { filterText, pagesOf, splitWait } from "./calls.js";

type Query<Name extends keyof Operations> = Omit<Operations[Name]["query"], "cursor">;
export type ListQuery<Name extends keyof Operations> = Omit<Query<Name>, "filter"> & { filter?: Filter | undefined };

export class Sessions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Create a session; one that exists with equal fields is returned as it is. Without `project_id`: the project of the request. */
  async create(session: NewSession = {}, options: WriteOptions = {}): Promise<Session> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("create_session", { body: session, query }, rest);
  }

  /** The sessions of the project of the request, else of all; most recent activity first. */
  list(query: Query<"list_sessions"> = {}, options: RequestOptions = {}): Pages<Session> {
    return pagesOf((cursor) => this.#connection.call("list_sessions", { query: { ...own(query), cursor } }, options));
  }

  async get(id: string, options: RequestOptions = {}): Promise<Session> {
    return await this.#connection.call("get_session", { path: { external_id: id } }, options);
  }

  /** Change the given fields; `project_id` moves the session, and null takes it out of its project. */
  async change(id: string, change: SessionChange, options: WriteOptions = {}): Promise<Session> {
    const [query, rest] = splitWait(options);
    const given = { path: { external_id: id }, body: change, query };
    return (await this.#connection.call("change_session", given, rest)) as Session;
  }

  /** What would move with the session. Nothing is changed. */
  async previewMove(id: string, projectId: string | null, options: RequestOptions = {}): Promise<MovePreview> {
    const given = { path: { external_id: id }, body: { project_id: projectId }, query: { dry_run: true } };
    return (await this.#connection.call("change_session", given, options)) as MovePreview;
  }

  /** Delete the session, with everything that derives from it. */
  async delete(id: string, options: RequestOptions = {}): Promise<Forgotten> {
    return await this.#connection.call("delete_session", { path: { external_id: id } }, options);
  }

  /** Delete what was said in the session, with everything that derives from it. */
  async clear(id: string, options: RequestOptions = {}): Promise<Forgotten> {
    return await this.#connection.call("clear_session", { path: { external_id: id } }, options);
  }

  /** Notes that compress what was said. */
  observations(id: string, query: ListQuery<"list_observations"> = {}, options: RequestOptions = {}): Pages<Observation> {
    const path = { external_id: id };
    const wanted = filterText(query);
    return pagesOf((cursor) => this.#connection.call("list_observations", { path, query: { ...wanted, cursor } }, options));
  }

  /** Extract memories now. */
  async extract(id: string, options: WriteOptions = {}): Promise<Extraction> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("extract", { path: { external_id: id }, query }, rest);
  }
}

export class Messages {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Append a message. It is durable when this returns. */
  async record(sessionId: string, message: MessageToRecord, options: WriteOptions = {}): Promise<Message> {
    const [query, rest] = splitWait(options);
    const given = { path: { external_id: sessionId }, body: message, query };
    return await this.#connection.call("record_message", given, rest);
  }

  /** Append up to 1,000 messages, all or none. */
  async recordAll(sessionId: string, messages: NewMessage[], options: RecordAllOptions = {}): Promise<Message[]> {
    const { ifUnmovedSince, ...others } = options;
    const [query, rest] = splitWait(others);
    const given = { path: { external_id: sessionId }, body: { messages, if_unmoved_since: ifUnmovedSince }, query };
    return (await this.#connection.call("record_messages", given, rest)).data;
  }

  /** What was said in a session, in order. */
  list(sessionId: string, query: ListQuery<"list_messages"> = {}, options: RequestOptions = {}): Pages<Message> {
    const path = { external_id: sessionId };
    const wanted = filterText(query);
    return pagesOf((cursor) => this.#connection.call("list_messages", { path, query: { ...wanted, cursor } }, options));
  }

  /** Delete one message, with everything that derives from it. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("forget_message", { path: { message_id: id } }, options);
  }
}

export class Episodes {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Record a user's message and the reply to it. */
  async record(episode: NewEpisode, options: WriteOptions = {}): Promise<Episode> {
    const [query, rest] = splitWait(options);
    return await this.#connection.call("record_episode", { body: episode, query }, rest);
  }
}
