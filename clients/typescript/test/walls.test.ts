/** ISO-4, ISO-10, ISO-12: two keys side by side, with the same ids and the same words; and clients that are narrowed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Cloister } from "@cloister/client";

import { all, connect, failure, newTenant, noting } from "./support.ts";

const WORDS = "The combination of the safe is";

async function furnish(client: Cloister, secret: string): Promise<void> {
  const session = client.session("monday");
  await session.create({ user_id: "ada", title: secret, metadata: { secret } });
  await session.recordEpisode({ user_message: `${WORDS} ${secret}.`, ai_response: `Noted: ${secret}.` });
  await session.addMemories([`The user's safe opens with ${secret}.`], { wait: "indexed" });
}

/** Everything that a client can read with these ids and words, as one text. */
async function everything(client: Cloister): Promise<string> {
  const { next_cursor: _, ...page } = await client.sessions.list().page();
  const session = client.session("monday");
  return JSON.stringify([
    page,
    await session.get(),
    await all(session.messages()),
    await session.context({ query: `${WORDS}?` }),
    await session.search({ query: WORDS, min_relevance: 0 }),
    await all(session.memories()),
    await all(client.sessions.observations("monday")),
    await client.profiles.ofUser("ada"),
  ]);
}

test("nothing crosses between two keys that use the same ids and words at the same time", async () => {
  const [one, two] = [await newTenant(), await newTenant()];
  await Promise.all([furnish(one.admin, "ALPHA-11"), furnish(two.admin, "OMEGA-99")]);
  const [first, second] = await Promise.all([everything(one.admin), everything(two.admin)]);
  assert.match(first, /ALPHA-11/);
  assert.match(second, /OMEGA-99/);
  assert.doesNotMatch(first, /OMEGA/);
  assert.doesNotMatch(second, /ALPHA/);
  const [mine] = await all(one.admin.messages.list("monday"));
  const foreign = await failure(two.admin.messages.delete(mine?.id ?? ""));
  const missing = await failure(two.admin.messages.delete("msg_00000000000f0001"));
  assert.deepEqual([foreign.code, foreign.status], [missing.code, missing.status]);
  assert.equal(foreign.message.replace(mine?.id ?? "", ""), missing.message.replace("msg_00000000000f0001", ""));
  const archive = JSON.stringify(await all(two.admin.archives.exportLines()));
  assert.match(archive, /OMEGA-99/);
  assert.doesNotMatch(archive, /ALPHA/);
});

test("a client that is narrowed to a user reaches that user's sessions only, whatever the key may", async () => {
  const { admin } = await newTenant();
  const [ada, ben] = [admin.narrowed({ userId: "ada" }), admin.narrowed({ userId: "bén ☂" })];
  await ada.session("of ada").create();
  await ben.session("of ben").create();
  assert.equal((await admin.sessions.get("of ben")).user_id, "bén ☂");
  assert.deepEqual((await all(ada.sessions.list())).map(({ external_id }) => external_id), ["of ada"]);
  const [foreign, missing] = [await failure(ada.sessions.get("of ben")), await failure(ada.sessions.get("of nobody"))];
  assert.deepEqual([foreign.code, foreign.kind], [missing.code, missing.kind]);
  assert.equal((await failure(ada.keys.create({ name: "more" }))).code, "forbidden");
  assert.equal((await failure(ada.users.erase("ada"))).code, "forbidden");
});

test("a narrowed client cannot be given another user or project, and keeps both", async () => {
  const { admin, project } = await newTenant();
  const garden = await admin.projects.create({ name: "Garden" });
  const narrow = admin.narrowed({ userId: "ada" }).narrowed({ projectId: garden.project_id });
  assert.deepEqual([narrow.userId, narrow.projectId], ["ada", garden.project_id]);
  assert.throws(() => narrow.narrowed({ userId: "ben" }), /is set already/);
  assert.throws(() => narrow.narrowed({ projectId: project }), /is set already/);
  assert.equal((await narrow.session("monday").create()).project_id, garden.project_id);
  assert.deepEqual((await all(narrow.sessions.list())).length, 1);
  assert.deepEqual((await all(admin.narrowed({ projectId: project }).sessions.list())).length, 0);
});

test("a user or project without a value is refused: it would not narrow at all", () => {
  const client = connect("k");
  for (const name of ["userId", "projectId"]) {
    for (const value of [undefined, null, 7, {}, ""]) {
      const given: object = { [name]: value };
      const said = new RegExp(name);
      assert.throws(() => client.narrowed(given as { userId: string }), said, `${name} ${value}`);
      assert.throws(() => client.narrowed({ userId: "ada", ...given }), said, `${name} ${value}`);
      assert.throws(() => connect("k", given), said, `${name} ${value}`);
      const inherited = Object.assign(Object.create(given) as object, { url: "http://127.0.0.1:1", key: "k" });
      assert.throws(() => new Cloister(inherited), said, `${name} ${value}`);
    }
  }
  const user = (): { id: string } | undefined => undefined;
  assert.throws(() => client.narrowed({ userId: user()?.id } as { userId: string }), /`userId` is undefined.*all rights of its key/);
  assert.throws(() => client.narrowed({ projectId: null as unknown as string }), /cannot be narrowed to no project/);
  assert.throws(() => client.narrowed({ projectId: "none" }), /cannot be narrowed to no project/);
  assert.throws(() => client.narrowed({} as { userId: string }), /name a `userId`/);
  assert.throws(() => client.narrowed({ userId: "ada, bob" }), /comma/);
});

test("ISO-12: no request of a narrowed client names another user or project, in any part of it", async () => {
  const { admin, key, project } = await newTenant();
  const garden = (await admin.projects.create({ name: "Garden" })).project_id;
  await admin.session("of bob").create({ user_id: "bob" });
  const requests: string[] = [];
  const all_ = connect(key, { fetch: noting(requests) });
  const [ada, inGarden] = [all_.narrowed({ userId: "ada" }), all_.narrowed({ projectId: garden })];
  for (const header of ["X-User-ID", "x-user-id", "X-USER-ID", "X-Project-ID", "x-project-id"]) {
    for (const client of [ada, inGarden, all_]) {
      const given: object = { query: {}, headers: { [header]: header.length === 9 ? "bob" : project } };
      const error = await failure(client.call("list_sessions", given));
      assert.deepEqual([error.code, error.errors[0]?.field], ["invalid_request", header]);
      assert.match(error.message, /`narrowed`/);
    }
  }
  const others: [string, Promise<unknown>][] = [
    ["user_id", ada.sessions.create({ user_id: "bob" })],
    ["user_id", ada.sessions.create({ user_id: null })],
    ["user_id", all(ada.sessions.list({ user_id: "bob" }))],
    ["user_id", ada.search({ query: "boat", user_id: "bob" })],
    ["user_id", ada.profiles.ofUser("bob")],
    ["user_id", all(ada.events({ userId: "bob" }))],
    ["user_id", all(ada.session("a").chat({ text: "Hello.", user_id: "bob" }))],
    ["user_id", all(ada.archives.exportLines({ scope: "user", id: "bob" }))],
    ["project_id", inGarden.sessions.create({ project_id: project })],
    ["project_id", inGarden.sessions.create({ project_id: null })],
    ["project_id", inGarden.sessions.change("of bob", { project_id: project })],
    ["project_id", inGarden.search({ query: "boat", project_id: project })],
    ["project_id", all(inGarden.memories.ofProject({ project_id: "none" }))],
    ["project_id", inGarden.projects.get(project)],
    ["project_id", inGarden.projects.delete(project)],
    ["project_id", inGarden.keys.create({ name: "wider", project_id: project })],
    ["project_id", all(inGarden.archives.exportLines({ scope: "project", id: project }))],
  ];
  for (const [index, [field, call]] of others.entries()) {
    const error = await failure(call);
    assert.deepEqual([error.code, error.errors[0]?.field], ["invalid_request", field], `${index}`);
  }
  assert.deepEqual(requests, []);
  assert.equal((await inGarden.session("here").create({ project_id: garden })).project_id, garden);
  assert.equal((await ada.session("hers").create({ user_id: "ada" })).user_id, "ada");
  assert.deepEqual(await all(admin.sessions.list({ user_id: "ada, bob" })), []);
  // Which the page says: by its id a session of another project is still reached, unless the key is confined.
  assert.equal((await inGarden.sessions.get("of bob")).project_id, project);
  await admin.session("of bob").addMemories(["The user's boat is called Bluebird."]);
  const [memory] = await all(admin.session("of bob").memories());
  assert.match((await inGarden.memories.get(memory?.id ?? "")).content, /Bluebird/);
  // Archives and events have no ids: there the project counts.
  const archive = await failure(all(inGarden.archives.exportLines()));
  assert.deepEqual([archive.status, archive.errors[0]?.field], [422, "X-Project-ID"]);
  const lines = JSON.stringify(await all(inGarden.archives.exportLines({ scope: "project" })));
  assert.match(lines, /"here"/);
  assert.doesNotMatch(lines, /of bob|Bluebird/);
  const confined = connect((await admin.keys.create({ name: "phone", project_id: garden, confined: true })).key);
  assert.equal((await failure(confined.sessions.get("of bob"))).code, "not_found");
  assert.equal((await failure(confined.memories.get(memory?.id ?? ""))).code, "not_found");
});

test("a field that would narrow a request and is undefined is refused, since JSON leaves it out", async () => {
  const requests: string[] = [];
  const client = connect("k", { fetch: noting(requests) });
  const unset = <Fields>(name: string): Fields => ({ [name]: undefined }) as Fields;
  const calls = [
    async () => await all(client.sessions.list(unset("user_id"))),
    async () => await client.search({ query: "boat", ...unset<{ user_id: string }>("user_id") }),
    async () => await client.search({ query: "boat", ...unset<{ session_id: string }>("session_id") }),
    async () => await client.session(undefined as unknown as string).search({ query: "boat" }),
    async () => await client.sessions.create(unset("project_id")),
    async () => await client.context({ session_id: "a", filter: { and: [{ not: unset("user_id") }] } }),
    async () => await all(client.messages.list("a", { filter: { or: [unset("session_id")] } })),
    async () => await all(client.events(unset("userId"))),
    async () => await client.users.erase("ada", unset("dryRun")),
    async () => await client.projects.delete("proj_0000000000000001", unset("dryRun")),
    async () => await client.call("delete_session", { path: { external_id: "a" }, query: unset("dry_run") }),
  ];
  for (const call of calls) assert.match((await failure(call())).message, /is undefined/);
  assert.deepEqual(requests, []);
});

test("a field that would narrow a request and is null is refused, where that would count as left out", async () => {
  const requests: string[] = [];
  const { admin, key } = await newTenant();
  const client = connect(key, { fetch: noting(requests) });
  const none = <Fields>(name: string): Fields => ({ [name]: null }) as Fields;
  const calls = [
    async () => await client.search({ query: "boat", ...none<{ session_id: string }>("session_id") }),
    async () => await client.search({ query: "boat", ...none<{ user_id: string }>("user_id") }),
    async () => await client.session(null as unknown as string).search({ query: "boat" }),
    async () => await client.session("a").search({ query: "boat", ...none<object>("user_id") }),
    async () => await client.context({ session_id: "a", filter: { not: none("session_id") } }),
    async () => await all(client.sessions.list(none("user_id"))),
    async () => await all(client.messages.list("a", { filter: { and: [none("user_id")] } })),
    async () => await all(client.events(none("userId"))),
    async () => await client.keys.create({ name: "everybody's", ...none<object>("user_id") }),
    async () => await client.call("explain", { body: { message_id: "msg_00000000000f0001", ...none<object>("session_id") } }),
  ];
  for (const [index, call] of calls.entries()) assert.match((await failure(call())).message, /is null/, `${index}`);
  assert.deepEqual(requests, []);
  // Where there is nobody to leave out, null is nobody.
  assert.equal((await client.session("of nobody").create({ user_id: null })).user_id, null);
  await all(client.session("asked by nobody").chat({ text: "Hello.", user_id: null }));
  assert.equal((await admin.sessions.get("asked by nobody")).user_id, null);
  assert.deepEqual(await client.search({ query: "boat", project_id: null }), []);
});

test("a field that would narrow a request and is inherited is refused, since it would not be sent", async () => {
  const requests: string[] = [];
  const client = connect("k", { fetch: noting(requests) });
  class OfAda {
    get user_id(): string {
      return "ada";
    }
  }
  const inherited = <Fields extends object>(fields: Fields): Fields => Object.assign(Object.create({ session_id: "a" }) as object, fields) as Fields;
  const calls = [
    async () => await all(client.sessions.list(new OfAda())),
    async () => await all(client.memories.ofProject(new OfAda())),
    async () => await client.sessions.create(new OfAda()),
    async () => await client.session("a").create(new OfAda()),
    async () => await client.call("list_sessions", { query: new OfAda() }),
    async () => await client.search(inherited({ query: "boat" })),
    async () => await client.context({ session_id: "a", filter: { and: [inherited({})] } }),
    async () => await all(client.session("a").chat(Object.assign(new OfAda(), { text: "Hello." }))),
  ];
  for (const [index, call] of calls.entries()) assert.match((await failure(call())).message, /is inherited/, `${index}`);
  assert.deepEqual(requests, []);
});

test("an id that an address cannot carry is refused, and reaches no other route", async () => {
  const requests: string[] = [];
  const { admin, key } = await newTenant();
  const client = connect(key, { fetch: noting(requests) });
  for (const id of ["", ".", "..", "\ud800"]) {
    assert.equal((await failure(client.sessions.delete(id))).code, "invalid_request", JSON.stringify(id));
  }
  assert.deepEqual(requests, []);
  for (const id of ["a/../b", "%2e%2e", "a?b#c", "ü ☂", "...", "a\\b"]) {
    await admin.session(id).create();
    assert.equal((await client.sessions.get(id)).external_id, id);
  }
});

test("a user id that a header would change is refused, since it would name another user", async () => {
  const { admin } = await newTenant();
  for (const userId of ["", " ada", "ada ", "ada\t", "a\nb", "a\0b", "\udc00"]) {
    assert.throws(() => admin.narrowed({ userId }), /cannot be sent in a header/, JSON.stringify(userId));
  }
});

test("a key that is revoked or confined is refused by the next request", async () => {
  const { admin, project } = await newTenant();
  const garden = await admin.projects.create({ name: "Garden" });
  const made = await admin.keys.create({ name: "phone", project_id: garden.project_id, confined: true });
  await admin.session("at home").create();
  const phone = connect(made.key);
  assert.equal((await failure(phone.sessions.get("at home"))).code, "not_found");
  assert.equal((await failure(phone.narrowed({ projectId: project }).sessions.list().page())).code, "forbidden");
  await admin.keys.revoke(made.key_id);
  assert.equal((await failure(phone.usage())).code, "unauthenticated");
});

test("ISO-11: a session that is created without a word about its project is in that of the request, as through every door", async () => {
  const { admin, project } = await newTenant();
  const garden = (await admin.projects.create({ name: "Garden" })).project_id;
  const pinned = connect((await admin.keys.create({ name: "phone", project_id: garden })).key);
  assert.equal((await admin.session("a").create()).project_id, project);
  assert.equal((await admin.session("b").create({ project_id: null })).project_id, null);
  assert.equal((await admin.narrowed({ projectId: garden }).session("c").create()).project_id, garden);
  assert.equal((await pinned.session("d").create()).project_id, garden);
  await all(pinned.session("e").chat({ text: "Hello." }));
  assert.equal((await admin.sessions.get("e")).project_id, garden);
});

test("ISO-12: messages that name the token of a context are recorded only where it was recalled", async () => {
  const [{ admin }, other] = [await newTenant(), await newTenant()];
  const kitchen = (await admin.projects.create({ name: "Kitchen" })).project_id;
  const session = admin.session("monday");
  await session.create();
  await admin.session("tuesday").create();
  await other.admin.session("monday").create();
  const token = async (client: Cloister, id = "monday"): Promise<string> => (await client.session(id).context({ query: "safe" })).unmoved_token ?? "";
  const ways: ((since: string) => Promise<unknown>)[] = [
    (since) => session.record({ role: "assistant", content: "Yes.", if_unmoved_since: since }),
    (since) => session.recordAll([{ role: "assistant", content: "Yes." }], { ifUnmovedSince: since }),
    (since) => session.recordEpisode({ user_message: "Is it?", ai_response: "Yes.", if_unmoved_since: since }),
  ];
  const before = await token(admin);
  await session.record({ role: "user", content: "Another message changes nothing." });
  for (const record of ways) await record(before);
  assert.equal((await session.get()).message_count, 5);
  await session.change({ project_id: kitchen });
  for (const record of ways) {
    const refused = await failure(record(before));
    assert.deepEqual([refused.code, refused.status, refused.kind, refused.id], ["conflict", 409, "session", "monday"]);
  }
  const said = new Set<string>();
  for (const forged of [await token(admin, "tuesday"), await token(other.admin), "0".repeat(64), "", before.slice(1)]) {
    for (const record of ways) {
      const refused = await failure(record(forged));
      assert.deepEqual([refused.code, refused.status], ["invalid_request", 422]);
      said.add(refused.message);
    }
  }
  assert.equal(said.size, 1);
  assert.equal((await session.get()).message_count, 5);
});
