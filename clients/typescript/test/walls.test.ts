/** ISO-4, ISO-10, ISO-12: two keys side by side, with the same ids and the same words; and clients that are narrowed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Cloister } from "@cloister/client";

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
