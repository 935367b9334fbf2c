/** Sends requests to a server, again where that is safe, and reads answers. */

import { CloisterError, errorOf, outcomeUnknown, redirected, unexpected } from "./errors.js";
import type { Effect } from "./errors.js";
import { ROUTES } from "./generated/operations.js";
import type { Operations, Route } from "./generated/operations.js";
import { checkClientOptions, checkedUrl, checkRequestOptions, refuseUnknown } from "./options.js";
import type { CloisterOptions, RequestOptions } from "./options.js";
import { checkedHeaders, encodedBody, headerText, idempotencyHeader, invalid, target } from "./request.js";
import type { AnyGiven, Given } from "./request.js";
import { checkScope, narrowedScope, scopeOf } from "./scope.js";
import type { Narrowing, Scope } from "./scope.js";
import { Deadline, pause } from "./waiting.js";

const SECONDS_TO_WAIT_AT_MOST = 30;
const FIRST_DELAY = 0.25;

/** An answer whose body is still to be read, with the deadline that ends it. */
export interface Opened {
  response: Response;
  deadline: Deadline;
}

/** Its address and key are private, so that no log of an object shows the key. */
export class Connection {
  readonly #options: Omit<CloisterOptions, keyof Scope>;
  readonly #scope: Scope;
  readonly address: string;

  constructor(options: CloisterOptions) {
    checkClientOptions(options);
    this.address = checkedUrl(options.url);
    this.#scope = scopeOf(options, "new Cloister");
    const { url, key, maxRetries, timeout, fetch } = options;
    this.#options = { url, key, maxRetries, timeout, fetch };
  }

  get userId(): string | undefined {
    return this.#scope.userId;
  }

  get projectId(): string | undefined {
    return this.#scope.projectId;
  }

  /** The same connection, narrowed. What is narrowed already stays: another user or project is refused. */
  narrowed(to: Narrowing): Connection {
    return new Connection({ ...this.#options, ...narrowedScope(this.#scope, to) });
  }

  /** One operation of the HTTP interface: JSON for JSON, `undefined` for no content, else the body as a stream. */
  async call<Name extends keyof Operations>(
    name: Name,
    given: Given<Name>,
    options: RequestOptions = {},
  ): Promise<Operations[Name]["answer"]> {
    const { response, deadline } = await this.open(name, given, options);
    try {
      if (response.status === 204) return undefined as Operations[Name]["answer"];
      if (ROUTES[name].answer === "stream") return response.body as Operations[Name]["answer"];
      if (isJson(response)) return (await response.json()) as Operations[Name]["answer"];
    } catch (error) {
      throw deadline.reason() ?? this.#broken(error, ROUTES[name]);
    } finally {
      deadline.clear();
    }
    await response.body?.cancel();
    throw unexpected(response, this.address, effectOf(ROUTES[name], given));
  }

  /** The successful answer of an operation, with its body unread. The deadline is the caller's to clear. */
  async open<Name extends keyof Operations>(
    name: Name,
    given: Given<Name>,
    options: RequestOptions = {},
    headers: Record<string, string> = {},
  ): Promise<Opened> {
    if (!Object.hasOwn(ROUTES, name)) throw invalid("operation", `\`${name}\` is none of those in /openapi.json that this client has.`);
    checkRequestOptions(options, name);
    refuseUnknown(given, ["path", "query", "headers", "body"], name);
    checkScope(given, this.#scope, name);
    const route = ROUTES[name];
    const request = this.#request(route, name, given, options, headers);
    const most = request.body instanceof ReadableStream ? 0 : (this.#options.maxRetries ?? 2);
    for (let tries = 0; ; tries++) {
      const answer = await this.#attempt(route, given, request, options);
      if (!(answer instanceof CloisterError)) return answer;
      const seconds = tries < most ? secondsToWait(answer, route, tries) : undefined;
      if (seconds === undefined) throw answer;
      await pause(seconds, options.signal);
    }
  }

  #request(
    route: Route,
    name: string,
    given: AnyGiven,
    options: RequestOptions,
    more: Record<string, string>,
  ): RequestInit & { headers: Record<string, string> } {
    const { content, type } = encodedBody(given.body);
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#options.key}`, ...more };
    if (type !== undefined) headers["Content-Type"] = type;
    if (this.userId !== undefined) headers["X-User-ID"] = headerText(this.userId, "userId");
    if (this.projectId !== undefined) headers["X-Project-ID"] = headerText(this.projectId, "projectId");
    Object.assign(headers, checkedHeaders(given.headers, route, name));
    if (route.repeat === "with-key") headers["Idempotency-Key"] = idempotencyHeader(options.idempotencyKey);
    else if (options.idempotencyKey !== undefined) {
      throw new TypeError(`${name}: this request takes no \`idempotencyKey\`.`);
    }
    const streamed = content instanceof ReadableStream ? { duplex: "half" } : {};
    return { method: route.method, headers, body: content ?? null, redirect: "manual", ...streamed };
  }

  /** One try: an answer, or the error of one that was no success. Throws what the caller's own signal says. */
  async #attempt(
    route: Route,
    given: AnyGiven,
    request: RequestInit,
    options: RequestOptions,
  ): Promise<Opened | CloisterError> {
    const deadline = new Deadline(options.timeout ?? this.#options.timeout ?? 60_000, options.signal);
    try {
      const send = this.#options.fetch ?? globalThis.fetch;
      const response = await send(this.address + target(route.path, given), { ...request, signal: deadline.signal });
      const redirect = isRedirect(response);
      if (response.ok && !redirect) return { response, deadline };
      const error = redirect
        ? redirected(response, this.address)
        : await errorOf(response, this.address, effectOf(route, given));
      if (redirect) await response.body?.cancel();
      deadline.clear();
      return error;
    } catch (error) {
      deadline.clear();
      if (options.signal?.aborted) throw options.signal.reason;
      if (error instanceof CloisterError) throw error;
      return this.#broken(error, route);
    }
  }

  #broken(cause: unknown, route: Route): CloisterError {
    const next = route.repeat === "always" ? "Try again." : outcomeUnknown;
    return new CloisterError(
      `No complete answer came from ${this.address}: is a Cloister running there (cloister serve), and is the address right? ${next}`,
      { code: "connection_failed", cause },
    );
  }
}

/** A change or a deletion is one transaction of the server, unless it also waits for the index. */
function effectOf({ method, repeat }: Route, { query }: AnyGiven): Effect {
  if (repeat === "always") return "none";
  const waits = (query as { wait?: unknown } | undefined)?.wait !== undefined;
  return (method === "PATCH" || method === "DELETE") && !waits ? "whole" : "partial";
}

/** Whether an answer sends the request elsewhere, or is from elsewhere. A browser hides what it says. */
function isRedirect({ status, type, redirected }: Response): boolean {
  return redirected || type === "opaqueredirect" || (status >= 300 && status < 400);
}

/**
 * Seconds until a request may be sent again; undefined if it may not. A request that was refused for its rate, or by a server
 * that is overloaded, was not begun: any is repeated. After another 503, and without an answer, reads are, and requests with an
 * idempotency key. `turn_in_progress` and `quota_exceeded` are answers, not failures.
 */
function secondsToWait(error: CloisterError, route: Route, tries: number): number | undefined {
  const isRepeatable = route.repeat !== "never" && (error.code === "connection_failed" || error.status === 503);
  const isRefused = error.code === "rate_limited" || error.code === "overloaded";
  if (!isRefused && !isRepeatable) return undefined;
  const delay = error.retryAfter ?? FIRST_DELAY * 2 ** tries * (0.5 + Math.random() / 2);
  return delay <= SECONDS_TO_WAIT_AT_MOST ? delay : undefined;
}

function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("application/json") ?? false;
}
