/** DOOR-6: errors, safe retries, idempotency, cursors, signals and options. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { Cloister, isCloisterError } from "@cloister/client";

import { all, answering, connect, failure, json, newTenant, noting, problem, URL_OF_SERVER } from "./support.ts";

const PAGE = { data: [], next_cursor: null };

test("a problem is a typed error with its code, what it is about, and the fields that are wrong", async () => {
  const { admin } = await newTenant();
  const missing = await failure(admin.sessions.get("nothing"));
  assert.deepEqual([missing.code, missing.status, missing.kind, missing.id], ["not_found", 404, "session", "nothing"]);
  assert.match(missing.requestId ?? "", /./);
  const wrong = await failure(admin.messages.record("monday", { role: "user", content: " " }));
  assert.deepEqual([wrong.code, wrong.errors[0]?.field], ["invalid_request", "content"]);
  assert.ok(isCloisterError(wrong, "invalid_request") && !isCloisterError(wrong, "not_found"));
  assert.equal((await failure(connect("clo_wrong").usage())).code, "unauthenticated");
  const unknown = { external_id: "monday", colour: "blue" };
  assert.equal((await failure(admin.sessions.create(unknown))).code, "invalid_request");
});

test("what answers but is no Cloister, and what does not answer, is said", async (t) => {
  const other = await answering((_, response) => response.writeHead(502).end("<html>"));
  t.after(other.close);
  const strange = await failure(new Cloister({ url: other.url, key: "k", maxRetries: 0 }).usage());
  assert.deepEqual([strange.code, strange.status], ["unexpected_answer", 502]);
  const page = await answering((_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>"));
  t.after(page.close);
  assert.equal((await failure(new Cloister({ url: page.url, key: "k" }).usage())).code, "unexpected_answer");
  other.close();
  const none = await failure(new Cloister({ url: other.url, key: "k", maxRetries: 0 }).usage());
  assert.equal(none.code, "connection_failed");
  assert.match(none.message, /cloister serve/);
});

test("a creating request whose answer was lost is sent again, and carried out once", async () => {
  const { key, admin } = await newTenant();
  await admin.session("monday").create();
  let lost = 0;
  const client = connect(key, {
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      if (lost++ > 0) return answer;
      throw new TypeError("the connection broke");
    },
  });
  await client.messages.record("monday", { role: "user", content: "Once." });
  assert.equal(lost, 2);
  assert.equal((await all(admin.messages.list("monday"))).length, 1);
  await admin.messages.record("monday", { role: "user", content: "Twice." }, { idempotencyKey: "ünique" });
  await admin.messages.record("monday", { role: "user", content: "Twice." }, { idempotencyKey: "ünique" });
  assert.equal((await all(admin.messages.list("monday"))).length, 2);
  const other = admin.messages.record("monday", { role: "user", content: "Other." }, { idempotencyKey: "ünique" });
  assert.equal((await failure(other)).code, "idempotency_mismatch");
});

test("a change without an idempotency key is never sent twice when its outcome is unknown", async () => {
  let sent = 0;
  const client = connect("k", {
    fetch: async () => {
      sent++;
      throw new TypeError("the connection broke");
    },
  });
  const error = await failure(client.sessions.delete("monday"));
  assert.deepEqual([error.code, sent], ["connection_failed", 1]);
  assert.match(error.message, /not known/);
  sent = 0;
  await failure(client.sessions.get("monday"));
  assert.equal(sent, 3);
});

test("only what is safe is sent again, after the time that the server names", async (t) => {
  const cases: [string, number, string, Record<string, string>, (client: Cloister) => Promise<unknown>, number][] = [
    ["a rate", 429, "rate_limited", { "Retry-After": "0" }, (client) => client.sessions.delete("a"), 3],
    ["a full queue", 503, "overloaded", { "Retry-After": "0" }, (client) => client.sessions.delete("a"), 3],
    ["a long wait", 429, "rate_limited", { "Retry-After": "3600" }, (client) => client.usage(), 1],
    ["a quota", 429, "quota_exceeded", { "Retry-After": "0" }, (client) => client.sessions.create(), 1],
    ["a turn", 409, "turn_in_progress", { "Retry-After": "0" }, (client) => client.sessions.create(), 1],
    ["a busy read", 503, "storage_busy", { "Retry-After": "0" }, (client) => client.usage(), 3],
    ["a busy query", 503, "storage_busy", { "Retry-After": "0" }, (client) => client.context({ session_id: "a" }), 3],
    ["a busy creation", 503, "storage_busy", { "Retry-After": "0" }, (client) => client.sessions.create(), 3],
    ["a busy change", 503, "storage_busy", { "Retry-After": "0" }, (client) => client.sessions.change("a", {}), 1],
    ["a crash", 500, "internal_error", {}, (client) => client.usage(), 1],
  ];
  for (const [name, status, code, headers, call, times] of cases) {
    const server = await answering((_, response) => problem(response, status, code, headers));
    t.after(server.close);
    const error = await failure(call(new Cloister({ url: server.url, key: "k" })));
    assert.deepEqual([name, error.code, server.requests.length], [name, code, times]);
    const keys = new Set(server.requests.map((request) => request.headers["idempotency-key"]));
    assert.equal(keys.size, 1, `${name}: the same key each time`);
    if (name === "a long wait") assert.equal(error.retryAfter, 3600);
  }
});

test("an idempotency key is spelled as the Python library spells it", async (t) => {
  const server = await answering((_, response) => json(response, {}));
  t.after(server.close);
  const client = new Cloister({ url: server.url, key: "k" });
  for (const idempotencyKey of ["a b/c", "ü/(1)!"]) await client.sessions.create({}, { idempotencyKey });
  const sent = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.deepEqual(sent, ["a b/c", "%C3%BC/%281%29%21"]);
  for (const idempotencyKey of ["", " a", "a\n"]) {
    assert.equal((await failure(client.sessions.create({}, { idempotencyKey }))).code, "invalid_request");
  }
});

test("a list is read page by page, and can be left", async () => {
  const { key, admin } = await newTenant();
  for (const id of ["a", "b", "c", "d", "e"]) await admin.session(id).create();
  const requests: string[] = [];
  const client = connect(key, { fetch: noting(requests) });
  const ids = (await all(client.sessions.list({ limit: 2 }))).map(({ external_id }) => external_id);
  assert.deepEqual([ids.sort(), requests.length], [["a", "b", "c", "d", "e"], 3]);
  assert.equal((await client.sessions.list({ limit: 2 }).take(2)).length, 2);
  assert.equal(requests.length, 4);
  const first = await client.sessions.list({ limit: 2 }).page();
  assert.equal((await client.sessions.list({ limit: 2 }).page(first.next_cursor ?? "")).data.length, 2);
});

test("a list whose pages repeat is an error, not an endless loop", async (t) => {
  const server = await answering((_, response) => json(response, { data: [], next_cursor: "again" }));
  t.after(server.close);
  const error = await failure(all(new Cloister({ url: server.url, key: "k" }).sessions.list()));
  assert.equal(error.code, "unexpected_answer");
});

test("a signal ends a request, a wait between tries and a list; a timeout is an error that says so", async (t) => {
  const silent = await answering(() => {});
  const busy = await answering((_, response) => problem(response, 429, "rate_limited", { "Retry-After": "20" }));
  t.after(silent.close);
  t.after(busy.close);
  for (const { url } of [silent, busy]) {
    const controller = new AbortController();
    const call = new Cloister({ url, key: "k" }).sessions.list({}, { signal: controller.signal }).page();
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await assert.rejects(call, /enough/);
  }
  await assert.rejects(connect("k").usage({ signal: AbortSignal.abort(new Error("before")) }), /before/);
  const late = await failure(new Cloister({ url: silent.url, key: "k", timeout: 50, maxRetries: 0 }).usage());
  assert.equal(late.code, "connection_failed");
});

test("an option that is not known is refused, never ignored", async () => {
  const options = { url: URL_OF_SERVER, key: "k", user: "ada" };
  assert.throws(() => new Cloister(options), /`user` is not known/);
  const request: object = { signall: undefined };
  await assert.rejects(connect("k").usage(request), /`signall` is not known/);
  const narrowing: object = { user_id: "ada" };
  assert.throws(() => connect("k").narrowed(narrowing as { userId: string }), /`user_id` is not known/);
  await assert.rejects(connect("k").usage({ idempotencyKey: "x" }), /takes no `idempotencyKey`/);
  for (const url of ["127.0.0.1:8420", "ftp://a", "http://a:b@c", "http://a/?b", "http://a/#b"]) {
    assert.throws(() => new Cloister({ url, key: "k" }), /`url` must/, url);
  }
  for (const key of ["", "a b", "ключ"]) assert.throws(() => connect(key), /`key` must/);
});

test("a key is in no log of a client or of an error", async (t) => {
  const server = await answering((_, response) => problem(response, 500, "internal_error"));
  t.after(server.close);
  const client = new Cloister({ url: server.url, key: "clo_secret" });
  const error = await failure(client.session("clo_s").get());
  for (const shown of [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client), inspect(error, { depth: 9 })]) {
    assert.doesNotMatch(shown, /clo_secret/);
  }
});

test("a redirect is refused, so that no key and no text goes to another server, and is not asked for twice", async (t) => {
  const other = await answering((_, response) => json(response, PAGE));
  t.after(other.close);
  for (const status of [301, 302, 303, 307, 308]) {
    for (const call of [(client: Cloister) => client.usage(), (client: Cloister) => client.sessions.create()]) {
      const server = await answering((_, response) => response.writeHead(status, { Location: `${other.url}/org/usage` }).end());
      t.after(server.close);
      const error = await failure(call(new Cloister({ url: server.url, key: "k" })));
      assert.deepEqual([error.code, error.status, server.requests.length, other.requests.length], ["unexpected_answer", status, 1, 0]);
      assert.match(error.message, /redirects are not followed/);
    }
  }
  // A `fetch` of the application's own that follows them.
  const server = await answering((_, response) => response.writeHead(307, { Location: `${other.url}/org/usage` }).end());
  t.after(server.close);
  const following: typeof fetch = async (input, init) => await fetch(input, { ...init, redirect: "follow" });
  assert.match((await failure(new Cloister({ url: server.url, key: "k", fetch: following }).usage())).message, /redirects are not/);
});

test("a failed change says whether it was made, as far as that is known", async (t) => {
  const nothing = /Nothing was changed\.$/;
  const unknown = /Whether the change was made is not known/;
  const neither = /^It is [a-z_]+\.$/;
  const change = (client: Cloister): Promise<unknown> => client.sessions.change("a", { title: "b" });
  const cases: [number, string, (client: Cloister) => Promise<unknown>, RegExp][] = [
    [503, "storage_busy", change, nothing],
    [503, "closed", (client) => client.sessions.delete("a"), nothing],
    [507, "storage_full", change, nothing],
    [503, "outcome_unknown", change, neither],
    [503, "overloaded", change, neither],
    [503, "a_code_of_later", change, unknown],
    [500, "internal_error", change, unknown],
    [409, "conflict", change, neither],
    [503, "storage_busy", (client) => client.usage(), neither],
    // Stored, and then not indexed.
    [503, "storage_busy", (client) => client.sessions.change("a", { title: "b" }, { wait: "indexed" }), neither],
    // In several steps, of which the first ones stay.
    [503, "storage_busy", (client) => client.archives.import("{}"), neither],
    [500, "internal_error", (client) => client.sessions.create(), unknown],
  ];
  for (const [status, code, call, expected] of cases) {
    const server = await answering((_, response) => problem(response, status, code));
    t.after(server.close);
    assert.match((await failure(call(new Cloister({ url: server.url, key: "k", maxRetries: 0 })))).message, expected, code);
  }
  const proxies: [number, (client: Cloister) => Promise<unknown>, boolean][] = [
    [200, change, true],
    [502, change, true],
    [403, change, false],
    [502, (client) => client.usage(), false],
  ];
  for (const [status, call, isOpen] of proxies) {
    const proxy = await answering((_, response) => response.writeHead(status, { "Content-Type": "text/html" }).end("<html>"));
    t.after(proxy.close);
    const error = await failure(call(new Cloister({ url: proxy.url, key: "k", maxRetries: 0 })));
    assert.deepEqual([error.code, unknown.test(error.message)], ["unexpected_answer", isOpen], String(status));
  }
});

test("an operation, a part or a header that is not known is refused before anything is sent", async () => {
  const requests: string[] = [];
  const client = connect("k", { fetch: noting(requests) });
  for (const name of ["nope", "constructor", "__proto__"]) {
    const error = await failure(client.call(name as "get_usage", {}));
    assert.deepEqual([error.code, error.errors[0]?.field], ["invalid_request", "operation"]);
  }
  const misspelt: object = { Query: {} };
  await assert.rejects(client.call("list_sessions", misspelt), /`Query` is not known/);
  for (const header of ["X-Model-Key", "Authorization", "x-api-key", "Idempotency-Key"]) {
    const given: object = { headers: { [header]: "other" } };
    assert.equal((await failure(client.call("list_sessions", given))).code, "invalid_request", header);
  }
  const signal = AbortSignal.timeout(1_000);
  const events = client.events.bind(client) as (...given: object[]) => unknown;
  assert.throws(() => events({}, { signal }), /takes one argument/);
  assert.deepEqual(requests, []);
});

test("an address may have a path", async (t) => {
  const server = await answering((_, response) => json(response, PAGE));
  t.after(server.close);
  await new Cloister({ url: `${server.url}/memory/`, key: "k" }).sessions.list().page();
  assert.equal(server.requests[0]?.url, "/memory/v1/sessions");
});
