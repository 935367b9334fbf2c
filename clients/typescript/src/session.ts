/** One session: the calls of the client that concern it, with its id filled in. */

import type { ChatOptions, ChatPart, Question } from "./chat.js";
import type { Cloister } from "./client.js";
import type {
  Appended,
  Context,
  ContextRequest,
  Episode,
  Extraction,
  Forgotten,
  Hit,
  Memory,
  Message,
  MessageToRecord,
  NewEpisode,
  NewMessage,
  NewSession,
  SearchRequest,
  Session,
  SessionChange,
} from "./generated/schemas.js";
import type { RecordAllOptions, RequestOptions, WriteOptions } from "./options.js";
import type { Pages } from "./pages.js";
import type { ListQuery } from "./resources/sessions.js";
import { own } from "./scope.js";

export class SessionClient {
  readonly id: string;
  readonly #client: Cloister;

  constructor(client: Cloister, id: string) {
    this.#client = client;
    this.id = id;
  }

  /** Create the session; one that exists with equal fields is returned as it is. */
  async create(fields: Omit<NewSession, "external_id"> = {}, options: WriteOptions = {}): Promise<Session> {
    return await this.#client.sessions.create({ ...own(fields), external_id: this.id }, options);
  }

  async get(options: RequestOptions = {}): Promise<Session> {
    return await this.#client.sessions.get(this.id, options);
  }

  async change(change: SessionChange, options: WriteOptions = {}): Promise<Session> {
    return await this.#client.sessions.change(this.id, change, options);
  }

  async record(message: MessageToRecord, options: WriteOptions = {}): Promise<Message> {
    return await this.#client.messages.record(this.id, message, options);
  }

  async recordAll(messages: NewMessage[], options: RecordAllOptions = {}): Promise<Message[]> {
    return await this.#client.messages.recordAll(this.id, messages, options);
  }

  async recordEpisode(episode: Omit<NewEpisode, "session_id">, options: WriteOptions = {}): Promise<Episode> {
    return await this.#client.episodes.record({ ...own(episode), session_id: this.id }, options);
  }

  messages(query: ListQuery<"list_messages"> = {}, options: RequestOptions = {}): Pages<Message> {
    return this.#client.messages.list(this.id, query, options);
  }

  async context(request: Omit<ContextRequest, "session_id"> = {}, options: RequestOptions = {}): Promise<Context> {
    return await this.#client.context({ ...own(request), session_id: this.id }, options);
  }

  /** Search in the scope of the session. */
  async search(
    request: Omit<SearchRequest, "session_id" | "project_id" | "user_id">,
    options: RequestOptions = {},
  ): Promise<Hit[]> {
    return await this.#client.search({ ...own(request), session_id: this.id }, options);
  }

  memories(query: ListQuery<"list_memories"> = {}, options: RequestOptions = {}): Pages<Memory> {
    return this.#client.memories.list(this.id, query, options);
  }

  async addMemories(contents: string[], options: WriteOptions = {}): Promise<Appended> {
    return await this.#client.memories.add({ session_id: this.id, contents }, options);
  }

  async extract(options: WriteOptions = {}): Promise<Extraction> {
    return await this.#client.sessions.extract(this.id, options);
  }

  /** Say something, and read the reply of the server's model while it is made. */
  chat(question: Omit<Question, "id">, options: ChatOptions = {}): AsyncGenerator<ChatPart, void, undefined> {
    return this.#client.chat.stream({ ...own(question), id: this.id }, options);
  }

  async clear(options: RequestOptions = {}): Promise<Forgotten> {
    return await this.#client.sessions.clear(this.id, options);
  }

  async delete(options: RequestOptions = {}): Promise<Forgotten> {
    return await this.#client.sessions.delete(this.id, options);
  }
}
