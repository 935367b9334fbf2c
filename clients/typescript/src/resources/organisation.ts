/** Projects and API keys. */

import type { Connection } from "../connection.js";
import type { Operations } from "../generated/operations.js";
import type {
  ApiKey,
  CreatedKey,
  DeletedProject,
  NewApiKey,
  NewProject,
  Project,
  ProjectChange,
  Retention,
  Session,
  VisibilityPreview,
} from "../generated/schemas.js";
import type { RequestOptions } from "../options.js";
import { Pages } from "../pages.js";
import { own } from "../scope.js";
import { pagesOf } from "./calls.js";

type Query<Name extends keyof Operations> = Omit<Operations[Name]["query"], "cursor">;

export class Projects {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(query: Query<"list_projects"> = {}, options: RequestOptions = {}): Pages<Project> {
    return pagesOf((cursor) => this.#connection.call("list_projects", { query: { ...own(query), cursor } }, options));
  }

  async create(project: NewProject, options: RequestOptions = {}): Promise<Project> {
    return await this.#connection.call("create_project", { body: project }, options);
  }

  async get(id: string, options: RequestOptions = {}): Promise<Project> {
    return await this.#connection.call("get_project", { path: { project_id: id } }, options);
  }

  async change(id: string, change: ProjectChange, options: RequestOptions = {}): Promise<Project> {
    return (await this.#connection.call("change_project", { path: { project_id: id }, body: change }, options)) as Project;
  }

  /** Who would newly recall whom, or what would be forgotten, by a change. Nothing is changed. */
  async previewChange(
    id: string,
    change: ProjectChange,
    options: RequestOptions = {},
  ): Promise<VisibilityPreview | Retention> {
    const given = { path: { project_id: id }, body: change, query: { dry_run: true } };
    return (await this.#connection.call("change_project", given, options)) as VisibilityPreview | Retention;
  }

  /** Delete a project; its sessions are then in no project. With `contents: "delete"` they are deleted too, with everything in it. */
  async delete(
    id: string,
    options: RequestOptions & { contents?: "keep" | "delete" | undefined; dryRun?: boolean } = {},
  ): Promise<DeletedProject> {
    const { contents, dryRun, ...rest } = options;
    const query = { ...(contents === undefined ? {} : { contents }), ...("dryRun" in options ? { dry_run: dryRun as boolean } : {}) };
    return await this.#connection.call("delete_project", { path: { project_id: id }, query }, rest);
  }

  sessions(id: string, query: Query<"list_project_sessions"> = {}, options: RequestOptions = {}): Pages<Session> {
    const path = { project_id: id };
    return pagesOf((cursor) =>
      this.#connection.call("list_project_sessions", { path, query: { ...own(query), cursor } }, options),
    );
  }
}

export class Keys {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(query: Query<"list_api_keys"> = {}, options: RequestOptions = {}): Pages<ApiKey> {
    return pagesOf((cursor) => this.#connection.call("list_api_keys", { query: { ...own(query), cursor } }, options));
  }

  /** Create a key. Its text is in this answer only. */
  async create(key: NewApiKey, options: RequestOptions = {}): Promise<CreatedKey> {
    return await this.#connection.call("create_api_key", { body: key }, options);
  }

  async revoke(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("revoke_api_key", { path: { key_id: id } }, options);
  }
}
