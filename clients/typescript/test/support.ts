/** Tenants of the server under test, and programs between it and the client. */

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { Cloister, CloisterError } from "@cloister/client";
import type { CloisterOptions } from "@cloister/client";

export const URL_OF_SERVER = process.env["CLOISTER_URL"] ?? "";
const OPERATOR_KEY = process.env["CLOISTER_OPERATOR_KEY"] ?? "";

export interface TestTenant {
  admin: Cloister;
  key: string;
  project: string;
}

export async function newTenant(options: Partial<CloisterOptions> = {}): Promise<TestTenant> {
  const operator = new Cloister({ url: URL_OF_SERVER, key: OPERATOR_KEY });
  const made = await operator.call("create_tenant", { body: { name: `Household ${crypto.randomUUID()}` } });
  const key = made.admin_key;
  return { admin: connect(key, options), key, project: made.default_project_id };
}

export function connect(key: string, options: Partial<CloisterOptions> = {}): Cloister {
  return new Cloister({ url: URL_OF_SERVER, key, ...options });
}

/** The error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<CloisterError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof CloisterError) return error;
    throw error;
  }
  throw new Error("the call succeeded");
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** `fetch` that notes each request as `METHOD /path`. */
export function noting(requests: string[]): typeof fetch {
  return async (input, init) => {
    requests.push(`${init?.method} ${new URL(String(input)).pathname}`);
    return await fetch(input, init);
  };
}

export interface Answering {
  url: string;
  requests: IncomingMessage[];
  close: () => void;
}

/** A server with answers of the test's own. */
export async function answering(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Answering> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, requests, close };
}

export function problem(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "application/problem+json", ...headers });
  response.end(JSON.stringify({ type: "about:blank", title: code, status, code, detail: `It is ${code}.` }));
}

export function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}
