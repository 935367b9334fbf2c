/** The client of one server, with one key. */

import { Chat } from "./chat.js";
import { Connection } from "./connection.js";
import { follow } from "./events.js";
import type { CloisterEvent, EventOptions } from "./events.js";
import type { Operations } from "./generated/operations.js";
import type { Context, ContextRequest, Hit, SearchRequest, Usage } from "./generated/schemas.js";
import type { CloisterOptions, RequestOptions } from "./options.js";
import { refuseUnknown } from "./options.js";
import type { Given } from "./request.js";
import { Archives } from "./resources/archives.js";
import { Entities, Memories, Profiles, Users } from "./resources/memories.js";
import { Keys, Projects } from "./resources/organisation.js";
import { Episodes, Messages, Sessions } from "./resources/sessions.js";
import type { Narrowing } from "./scope.js";
import { SessionClient } from "./session.js";

/** Fields have the names of the HTTP interface (`session_id`), options of this client those of TypeScript (`sessionId`). */
export class Cloister {
  readonly sessions: Sessions;
  readonly messages: Messages;
  readonly episodes: Episodes;
  readonly memories: Memories;
  readonly entities: Entities;
  readonly profiles: Profiles;
  readonly users: Users;
  readonly projects: Projects;
  readonly keys: Keys;
  readonly archives: Archives;
  readonly chat: Chat;
  readonly #connection: Connection;

  constructor(options: CloisterOptions | Connection) {
    const connection = options instanceof Connection ? options : new Connection(options);
    this.#connection = connection;
    this.sessions = new Sessions(connection);
    this.messages = new Messages(connection);
    this.episodes = new Episodes(connection);
    this.memories = new Memories(connection);
    this.entities = new Entities(connection);
    this.profiles = new Profiles(connection);
    this.users = new Users(connection);
    this.projects = new Projects(connection);
    this.keys = new Keys(connection);
    this.archives = new Archives(connection);
    this.chat = new Chat(connection);
  }

  /** The user that every request is narrowed to, if it is. */
  get userId(): string | undefined {
    return this.#connection.userId;
  }

  /** The project of every request that names none. */
  get projectId(): string | undefined {
    return this.#connection.projectId;
  }

  /**
   * The same client, narrowed to a user, or with a project for its requests. A narrowed client cannot be given another
   * user or project, nor can a request of it: that is refused before it is sent. The server checks the user of everything
   * that is reached by its id, but not the project: a key that must not leave a project is created as `confined`.
   */
  narrowed(to: Narrowing): Cloister {
    refuseUnknown(to, ["userId", "projectId"], "narrowed");
    return new Cloister(this.#connection.narrowed(to));
  }

  /** One session of this client. Nothing is sent. */
  session(sessionId: string): SessionClient {
    return new SessionClient(this, sessionId);
  }

  /** What a model should be given for its next reply in a session. */
  async context(request: ContextRequest, options: RequestOptions = {}): Promise<Context> {
    return await this.#connection.call("build_context", { body: request }, options);
  }

  /** Messages, memories and entities that match, best first: in the scope of a session, or in a project. */
  async search(request: SearchRequest, options: RequestOptions = {}): Promise<Hit[]> {
    return (await this.#connection.call("search", { body: request }, options)).data;
  }

  /** Counts and limits of the tenant. */
  async usage(options: RequestOptions = {}): Promise<Usage> {
    return await this.#connection.call("get_usage", {}, options);
  }

  /** Events as they happen, until the loop is left or the signal aborts. Reconnects without losing any. */
  events(options: EventOptions = {}): AsyncGenerator<CloisterEvent, void, undefined> {
    if (arguments.length > 1) throw new TypeError("events: takes one argument, in which `signal` is too.");
    return follow(this.#connection, options);
  }

  /** Any operation of the HTTP interface by its id in `/openapi.json`, also those without a method here. */
  async call<Name extends keyof Operations>(
    name: Name,
    given: Given<Name>,
    options: RequestOptions = {},
  ): Promise<Operations[Name]["answer"]> {
    return await this.#connection.call(name, given, options);
  }
}
