/** The user and the project that a client is narrowed to. What a request says beside them is checked before it is sent. */

import type { AnyGiven } from "./request.js";
import { headerText, invalid } from "./request.js";

/** A user, a project, or both. A field that is there must have a value: `undefined` is not "everybody". */
export type Narrowing = { userId: string; projectId?: string } | { userId?: string; projectId: string };

export interface Scope {
  userId?: string;
  projectId?: string;
}

type Field = "user_id" | "project_id";

const OPTIONS = ["userId", "projectId"] as const;
/** Fields without which a request means more: everybody's, every project's, the whole project's; or a deletion, not its rehearsal. */
const NARROWING_FIELDS = ["user_id", "project_id", "session_id", "dry_run"];
/** Operations in which `user_id: null` is nobody. In any other it would be read as left out. */
const TAKES_NOBODY = ["create_session", "chat", "read_entries", "write_entries", "find_memory_tool_session"];
const NO_PROJECT = "none";
const WIDER = {
  userId: "Without a user the client has all rights of its key; leave `userId` out if that is meant.",
  projectId: "A client cannot be narrowed to no project: say so in a request (`project_id: null`, in a query `none`), or leave `projectId` out.",
};

/** The scope in options of the client. A field that is there and has no value is refused: it would not narrow at all. */
export function scopeOf(options: { userId?: unknown; projectId?: unknown }, where: string): Scope {
  const scope: Scope = {};
  for (const name of OPTIONS) {
    if (!(name in options)) continue;
    const value = options[name];
    if (typeof value !== "string" || (name === "projectId" && value === NO_PROJECT)) {
      throw new TypeError(`${where}: \`${name}\` is ${shown(value)}. ${WIDER[name]}`);
    }
    headerText(value, name);
    if (value.includes(",")) throw invalid(name, "cannot be sent in a header: it has a comma, by which headers are joined.");
    scope[name] = value;
  }
  return scope;
}

/** The scope, narrowed. What is narrowed already stays: another user or project is refused. */
export function narrowedScope(scope: Scope, to: Narrowing): Scope {
  const wanted = scopeOf(to, "narrowed");
  if (Object.keys(wanted).length === 0) throw new TypeError("narrowed: name a `userId`, a `projectId` or both.");
  for (const name of OPTIONS) {
    const [now, next] = [scope[name], wanted[name]];
    if (now !== undefined && next !== undefined && now !== next) {
      throw invalid(name, "is set already, and a narrowed client cannot be given another: begin with the first client.");
    }
  }
  return { ...scope, ...wanted };
}

/** Refuse a request that names another user or project than the client, or names one so that it would be left out. */
export function checkScope({ path, query, body }: AnyGiven, scope: Scope, operation: string): void {
  for (const part of [path, query, body]) {
    if (typeof part !== "object" || part === null || part instanceof ReadableStream) continue;
    refuseUnset(part, TAKES_NOBODY.includes(operation));
    const fields = part as Record<string, unknown>;
    if ("user_id" in fields) refuseOther("user_id", fields["user_id"], scope.userId);
    if ("project_id" in fields) refuseOther("project_id", fields["project_id"] ?? NO_PROJECT, scope.projectId);
    // Of an export.
    if (fields["scope"] === "user" && "id" in fields) refuseOther("user_id", fields["id"], scope.userId);
    if (fields["scope"] === "project" && "id" in fields) refuseOther("project_id", fields["id"], scope.projectId);
  }
}

/**
 * Refuse fields that would narrow a request, or a filter, and would be left out: they are `undefined` or inherited, or `null` where
 * that means the same.
 */
export function refuseUnset(part: object, takesNobody = false): void {
  const fields = part as Record<string, unknown>;
  for (const name of NARROWING_FIELDS) {
    if (!(name in fields)) continue;
    const value = fields[name];
    const isLeftOut = name === "session_id" || (name === "user_id" && !takesNobody);
    if (value === undefined || (value === null && isLeftOut)) {
      throw invalid(name, `is ${value}, and would count as left out: leave it out if the request is not to be narrowed by it.`);
    }
    if (!Object.hasOwn(fields, name)) throw invalid(name, "is inherited, and would not be sent: make it a field of its own.");
  }
  for (const inner of [fields["filter"], fields["not"], fields["and"], fields["or"]].flat()) {
    if (typeof inner === "object" && inner !== null) refuseUnset(inner);
  }
}

/** Fields that others are added to. Copied, they would lose what is inherited. */
export function own<Fields extends object>(fields: Fields): Fields {
  refuseUnset(fields, true);
  return fields;
}

function refuseOther(field: Field, given: unknown, narrowed: string | undefined): void {
  if (narrowed === undefined || given === narrowed) return;
  throw invalid(field, `is ${shown(given)}, and the client is narrowed to ${shown(narrowed)}. Nothing was sent.`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return value === undefined || value === null ? String(value) : `of the type ${typeof value}`;
}
