/** The parts of one request: its address, its headers and its body. */

import { CloisterError } from "./errors.js";
import type { Operations, Route, Streamed } from "./generated/operations.js";

/** What an operation is given: the parts of its path, its query, its headers and its body, where it has them. */
export type Given<Name extends keyof Operations> = (keyof Operations[Name]["path"] extends never
  ? { path?: undefined }
  : { path: Operations[Name]["path"] }) &
  (keyof Operations[Name]["query"] extends never
    ? { query?: undefined }
    : { query?: Operations[Name]["query"] | undefined }) &
  (keyof Operations[Name]["headers"] extends never
    ? { headers?: undefined }
    : { headers?: Operations[Name]["headers"] | undefined }) &
  (Operations[Name]["body"] extends undefined ? { body?: undefined } : { body: Operations[Name]["body"] });

export interface AnyGiven {
  path?: object | undefined;
  query?: object | undefined;
  headers?: object | undefined;
  body?: unknown;
}

export const NDJSON = "application/x-ndjson";

/** The path of an operation with its parameters, and its query. */
export function target(template: string, given: AnyGiven): string {
  const parts = new Map<string, unknown>(Object.entries(given.path ?? {}));
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => segment(parts.get(name), name));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given.query ?? {})) {
    if (value === undefined) continue;
    query.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/**
 * A name as one segment of a path. `fetch` resolves `.` and `..` as steps in the path, also when they are escaped: such a
 * request would go to another route, so it is not sent.
 */
function segment(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "" || value === "." || value === "..") {
    throw invalid(name, 'must be a text other than "", "." and "..", which an address cannot carry.');
  }
  if (!isWellFormed(value)) throw invalid(name, "holds a lone surrogate, which is not valid Unicode.");
  return encodeURIComponent(value);
}

/** A value of a header in UTF-8. What `fetch` would change on the way is refused, since it would name somebody else. */
export function headerText(value: string, name: string): string {
  if (value === "" || !isWellFormed(value) || /^[\t ]|[\t ]$|[\0-\x08\n-\x1f\x7f]/.test(value)) {
    throw invalid(name, "cannot be sent in a header: it is empty, begins or ends with a space, or has a control character.");
  }
  return Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");
}

/** The headers of an operation. Others are refused: those that say whose request it is are the client's to set. */
export function checkedHeaders(given: object | undefined, route: Route, operation: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!route.headers?.includes(name)) {
      const own = /^x-(user|project)-id$/i.test(name) ? " A client is given its user and project by `narrowed`." : "";
      throw invalid(name, `is no header of ${operation}.${own}`);
    }
    if (value !== undefined) headers[name] = headerText(String(value), name);
  }
  return headers;
}

/** An idempotency key as a header can carry it, spelled as the Python library spells it; without one, a random key. */
export function idempotencyHeader(given: string | undefined): string {
  if (given === undefined) return hexadecimal(crypto.getRandomValues(new Uint8Array(16)));
  const bytes = headerText(given, "idempotencyKey");
  if (bytes === given && /^[\x20-\x7e]+$/.test(given)) return given;
  return encodeURIComponent(given)
    .replaceAll("%2F", "/")
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export interface EncodedBody {
  content: string | Streamed | undefined;
  type: string | undefined;
}

export function encodedBody(body: unknown): EncodedBody {
  if (body === undefined) return { content: undefined, type: undefined };
  if (body instanceof ReadableStream) return { content: body as Streamed, type: NDJSON };
  return { content: JSON.stringify(body), type: "application/json" };
}

/** An error of the client's own checks, in the form of the server's. */
export function invalid(field: string, message: string): CloisterError {
  const errors = [{ field, message }];
  const detail = `\`${field}\` ${message}`;
  const problem = { type: "about:blank", title: "Bad request", status: 422, detail, code: "invalid_request", errors } as const;
  return new CloisterError(detail, { code: "invalid_request", problem: { ...problem, errors } });
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
