/** The errors of the client. Every one is a `CloisterError` with a stable `code`. */

import type { Problem } from "./generated/schemas.js";

/** `connection_failed`: there was no answer. `unexpected_answer`: something answered, but not as a Cloister does. */
export type ErrorCode = Problem["code"] | "connection_failed" | "unexpected_answer";

export interface ErrorDetails {
  code: ErrorCode;
  status?: number | undefined;
  problem?: Problem | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** A refused or failed request. `message` says what to do; decide by `code`, which never changes its meaning. */
export class CloisterError extends Error {
  override readonly name = "CloisterError";
  readonly code: ErrorCode;
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** What the error is about, where it is about one thing: `session`, `memory`, and so on. */
  readonly kind: Problem["kind"];
  /** The id of that thing, as it was sent. */
  readonly id: string | undefined;
  /** What is wrong with each field of a bad request. */
  readonly errors: NonNullable<Problem["errors"]>;
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before another try, if the server named them. */
  readonly retryAfter: number | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status;
    this.kind = details.problem?.kind;
    this.id = details.problem?.id;
    this.errors = details.problem?.errors ?? [];
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
  }
}

/** Whether an error is of this client, and of this code if one is given. */
export function isCloisterError(error: unknown, code?: ErrorCode): error is CloisterError {
  return error instanceof CloisterError && (code === undefined || error.code === code);
}

/** What a request may have done: nothing, as it reads; all or nothing; or a part, which stays. */
export type Effect = "none" | "whole" | "partial";

export const outcomeUnknown = "Whether the change was made is not known: look before you repeat it.";

/** Codes of a server in trouble that has stored nothing. `overloaded` and `outcome_unknown` say themselves what was done. */
const NOTHING_STORED = /^(closed|storage_(busy|full|missing|read_only|unavailable))$/;
const SAYS_ITSELF = /^(overloaded|outcome_unknown|model_unavailable)$/;

/** The error of an answer that is not a success. Reads its body. A failed change says whether it was made, as far as that is known. */
export async function errorOf(response: Response, address: string, effect: Effect): Promise<CloisterError> {
  const status = response.status;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const problem = asProblem(await response.text().catch(() => ""));
  if (problem === undefined) return unexpected(response, address, effect);
  return new CloisterError(withOutcome(problem, effect), {
    code: problem.code,
    status,
    problem,
    requestId,
    retryAfter: retryAfterOf(response),
  });
}

function withOutcome({ code, detail, status }: Problem, effect: Effect): string {
  if (effect === "none" || status < 500 || SAYS_ITSELF.test(code)) return detail;
  if (!NOTHING_STORED.test(code)) return `${detail} ${outcomeUnknown}`;
  return effect === "whole" ? `${detail} Nothing was changed.` : detail;
}

/** The error of an answer that no Cloister gives. */
export function unexpected(response: Response, address: string, effect: Effect): CloisterError {
  const { status } = response;
  const said = `${address} answered ${status}, and not as a Cloister does: check the address, and any proxy.`;
  // What a proxy refuses by itself has a status below 500.
  const isOpen = effect !== "none" && (response.ok || status >= 500);
  return new CloisterError(isOpen ? `${said} ${outcomeUnknown}` : said, {
    code: "unexpected_answer",
    status,
    retryAfter: retryAfterOf(response),
  });
}

/** The error of an answer that sends the request elsewhere. */
export function redirected({ status }: Response, address: string): CloisterError {
  return new CloisterError(
    `${address} redirects to another address, and redirects are not followed: give the client the address of the Cloister itself.`,
    { code: "unexpected_answer", status },
  );
}

/** Seconds, from a number of seconds or a date. */
function retryAfterOf(response: Response): number | undefined {
  const given = response.headers.get("retry-after");
  if (given === null) return undefined;
  const seconds = /^\d{1,9}$/.test(given) ? Number(given) : (Date.parse(given) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function asProblem(text: string): Problem | undefined {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof found !== "object" || found === null) return undefined;
  const { code, detail } = found as Record<string, unknown>;
  return typeof code === "string" && typeof detail === "string" ? (found as Problem) : undefined;
}
