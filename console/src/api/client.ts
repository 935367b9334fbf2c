/** Requests to the API this page came from. The browser's cookie speaks for us; no key is ever here. */

import type { Page } from "./shapes";

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail);
    this.name = "Refusal";
  }
}

type Listener = () => void;
const signedOut = new Set<Listener>();

/** Called whenever an answer says that this browser is not signed in any more. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
}

/** `fetch`, but a refusal is thrown. Also what the chat streams through. */
export const checkedFetch: typeof fetch = async (input, init) => checked(await fetch(input, init));

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const refusal = await readRefusal(response);
  if (refusal.code === "unauthenticated") signedOut.forEach((listener) => listener());
  throw refusal;
}

/** The JSON of an answer that came another way; a refusal is thrown. */
export async function answerOf<T>(response: Response): Promise<T> {
  return (await (await checked(response)).json()) as T;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send("GET", path, undefined, signal)) as T;
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  return (await send("POST", path, body)) as T;
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return (await send("PATCH", path, body)) as T;
}

export async function remove<T>(path: string): Promise<T> {
  return (await send("DELETE", path)) as T;
}

/** A deletion that is still sent when the page is closed at this moment. */
export function removeWhileLeaving(path: string): void {
  void fetch(path, { method: "DELETE", keepalive: true }).catch(() => undefined);
}

/** All pages of a list, at most so many entries. */
export async function all<T>(path: string, most = 10_000, signal?: AbortSignal): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages<T>(path, most, signal)) found.push(...page);
  return found;
}

/** The pages of a list as they come, until there are so many entries. */
export async function* pages<T>(path: string, most: number, signal?: AbortSignal): AsyncGenerator<T[]> {
  let [cursor, found]: [string | null, number] = [null, 0];
  do {
    const page: Page<T> = await get(withQuery(path, { limit: "200", ...(cursor ? { cursor } : {}) }), signal);
    yield page.data;
    cursor = page.next_cursor;
    found += page.data.length;
  } while (cursor !== null && found < most);
}

export function withQuery(path: string, query: Record<string, string>): string {
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams(query).toString()}`;
}

export function sessionPath(id: string, rest = ""): string {
  // Dots too: a browser takes `..` for a step upwards.
  return `/v1/sessions/${segment(id)}${rest}`;
}

export function segment(id: string): string {
  return encodeURIComponent(id).replaceAll(".", "%2E");
}

export function sentence(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof TypeError) return "The server can’t be reached. It may be restarting; nothing you typed is lost.";
  return error instanceof Error ? error.message : String(error);
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await checkedFetch(path, {
    method,
    ...(signal ? { signal } : {}),
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  });
  return response.status === 204 ? undefined : response.json();
}

async function readRefusal(response: Response): Promise<Refusal> {
  try {
    const problem = (await response.json()) as { code?: string; detail?: string };
    return new Refusal(response.status, problem.code ?? "unknown", problem.detail ?? response.statusText);
  } catch {
    return new Refusal(response.status, "unknown", `The server sent an unexpected answer (${response.status}).`);
  }
}
