/** Sends requests to a server, again where that is safe, and reads answers. */

import { CloisterError, errorOf, unexpected } from "./errors.js";
import { ROUTES } from "./generated/operations.js";
import type { Operations, Route } from "./generated/operations.js";
import { checkClientOptions, checkedUrl, checkRequestOptions } from "./options.js";
import type { CloisterOptions, RequestOptions } from "./options.js";
import { encodedBody, headerText, idempotencyHeader, invalid, target } from "./request.js";
import type { AnyGiven, Given } from "./request.js";
import { Deadline, pause } from "./waiting.js";

const SECONDS_TO_WAIT_AT_MOST = 30;
const FIRST_DELAY = 0.25;

export interface Narrowing {
  userId?: string | undefined;
  projectId?: string | undefined;
}

/** An answer whose body is still to be read, with the deadline that ends it. */
export interface Opened {
  response: Response;
  deadline: Deadline;
}

/** Its address and key are private, so that no log of an object shows the key. */
export class Connection {
  readonly #options: CloisterOptions;
  readonly address: string;

  constructor(options: CloisterOptions) {
    checkClientOptions(options);
    this.address = checkedUrl(options.url);
    if (options.userId !== undefined) headerText(options.userId, "userId");
    if (options.projectId !== undefined) headerText(options.projectId, "projectId");
    this.#options = { ...options };
  }

  get userId(): string | undefined {
    return this.#options.userId;
  }

  get projectId(): string | undefined {
    return this.#options.projectId;
  }

  /** The same connection, narrowed. What is narrowed already stays: another user or project is refused. */
  narrowed(to: Narrowing): Connection {
    for (const name of ["userId", "projectId"] as const) {
      const [now, wanted] = [this.#options[name], to[name]];
      if (now !== undefined && wanted !== undefined && now !== wanted) {
        throw invalid(name, "is set already, and a narrowed client cannot be given another: begin with the first client.");
      }
    }
    return new Connection({
      ...this.#options,
      userId: to.userId ?? this.#options.userId,
      projectId: to.projectId ?? this.#options.projectId,
    });
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
    throw unexpected(response, this.address);
  }

  /** The successful answer of an operation, with its body unread. The deadline is the caller's to clear. */
  async open<Name extends keyof Operations>(
    name: Name,
    given: Given<Name>,
    options: RequestOptions = {},
    headers: Record<string, string> = {},
  ): Promise<Opened> {
    checkRequestOptions(options, name);
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
    for (const [header, value] of Object.entries(given.headers ?? {})) {
      if (value !== undefined) headers[header] = headerText(String(value), header);
    }
    if (route.repeat === "with-key") headers["Idempotency-Key"] = idempotencyHeader(options.idempotencyKey);
    else if (options.idempotencyKey !== undefined) {
      throw new TypeError(`${name}: this request takes no \`idempotencyKey\`.`);
    }
    const streamed = content instanceof ReadableStream ? { duplex: "half" } : {};
    return { method: route.method, headers, body: content ?? null, redirect: "error", ...streamed };
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
      if (response.ok) return { response, deadline };
      const error = await errorOf(response, this.address);
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
    const reads = route.repeat === "always";
    const next = reads ? "Try again." : "Whether the change was made is not known: look before you repeat it.";
    return new CloisterError(
      `No complete answer came from ${this.address}: is a Cloister running there (cloister serve), and is the address right? ${next}`,
      { code: "connection_failed", cause },
    );
  }
}

/**
 * Seconds until a request may be sent again; undefined if it may not. A request that was refused for its rate, or
 * by a server that is overloaded, changed nothing. One without an answer, or with 503, may have been carried out: only reads, and requests with an idempotency
 * key, are repeated then. `turn_in_progress` and `quota_exceeded` are answers, not failures.
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
