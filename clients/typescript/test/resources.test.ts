/** DOOR-6: every resource of the client, against a running server. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { all, failure, newTenant } from "./support.ts";

test("sessions and messages are created, listed, changed and deleted", async () => {
  const { admin, project } = await newTenant();
  const made = await admin.sessions.create({ external_id: "monday", title: "Boats", metadata: { channel: "web" } });
  assert.equal(made.project_id, project);
  const message = await admin.messages.record("monday", { role: "user", content: "Our boat is called Albatross." });
  assert.deepEqual([message.seq, message.role, message.session_id], [1, "user", "monday"]);
  const more = await admin.messages.recordAll("monday", [
    { role: "assistant", content: "A fine name." },
    { role: "user", content: "It is blue.", categories: ["colours"] },
  ]);
  assert.deepEqual(more.map(({ seq }) => seq), [2, 3]);
  const episode = await admin.episodes.record({ session_id: "monday", user_message: "Bye.", ai_response: "Goodbye." });
  assert.equal(episode.message_ids.length, 2);
  assert.equal((await all(admin.messages.list("monday"))).length, 5);
  const filtered = await all(admin.messages.list("monday", { filter: { category: "colours" } }));
  assert.deepEqual(filtered.map(({ content }) => content), ["It is blue."]);
  assert.equal((await admin.sessions.change("monday", { title: "Ships" })).title, "Ships");
  await admin.messages.delete(message.id);
  assert.equal((await admin.sessions.get("monday")).message_count, 4);
  assert.equal((await admin.sessions.clear("monday")).messages, 4);
  await admin.sessions.delete("monday");
  assert.equal((await failure(admin.sessions.get("monday"))).code, "not_found");
});

test("a session moves between projects, after a preview", async () => {
  const { admin } = await newTenant();
  const garden = await admin.projects.create({ name: "Garden" });
  const session = admin.session("monday");
  await session.create();
  await session.record({ role: "user", content: "The roses need water." });
  assert.equal((await admin.sessions.previewMove("monday", garden.project_id)).messages, 1);
  assert.equal((await session.change({ project_id: garden.project_id })).project_id, garden.project_id);
  assert.equal((await all(admin.projects.sessions(garden.project_id))).length, 1);
  assert.equal((await session.change({ project_id: null })).project_id, null);
});

test("contexts and searches find what was said in another session of the project", async () => {
  const { admin, project } = await newTenant();
  await admin.session("monday").create();
  await admin.session("monday").record({ role: "user", content: "Our boat is called Albatross." }, { wait: "indexed" });
  await admin.session("tuesday").create();
  const context = await admin.session("tuesday").context({ query: "What is our boat called?" });
  assert.deepEqual(context.relevant_history.map(({ content }) => content), ["Our boat is called Albatross."]);
  assert.equal((await admin.session("tuesday").search({ query: "boat" }))[0]?.session_id, "monday");
  assert.equal((await admin.narrowed({ projectId: project }).search({ query: "boat" })).length, 1);
});

test("a memory is added, corrected, pinned, retracted and restored, with its history", async () => {
  const { admin } = await newTenant();
  const session = admin.session("monday");
  await session.create({ user_id: "ada" });
  const added = await session.addMemories(["The user likes tea.", "The user likes tea!"]);
  assert.deepEqual([added.appended.length, added.duplicates], [1, 1]);
  const id = added.appended[0]?.id ?? "";
  assert.equal((await admin.memories.correct(id, { content: "The user likes green tea." })).content, "The user likes green tea.");
  assert.equal((await admin.memories.pin(id)).pinned, true);
  assert.equal((await admin.memories.unpin(id)).pinned, false);
  assert.equal((await admin.memories.retract(id)).status, "retracted");
  assert.equal((await admin.memories.restore(id)).status, "active");
  assert.ok((await all(admin.memories.history(id))).length >= 4);
  assert.equal((await admin.memories.get(id)).content, "The user likes green tea.");
  assert.equal((await all(admin.users.memories("ada"))).length, 1);
  assert.match((await admin.profiles.ofUser("ada")).text, /green tea/);
  await admin.memories.delete(id);
  assert.deepEqual(await all(session.memories()), []);
});

test("extraction finds memories and entities, which can be changed, merged, split and deleted", async () => {
  const { admin, project } = await newTenant();
  const session = admin.session("monday");
  await session.create({ user_id: "ada" });
  await session.recordEpisode({ user_message: "My sister Nadia lives in Porto.", ai_response: "I see." });
  assert.equal((await session.extract()).checked_messages, 2);
  assert.ok((await all(session.memories())).length > 0);
  const preview = await admin.memories.preview({ messages: [{ role: "user", content: "My brother is called Hugo." }] });
  assert.ok(preview.memories.length + preview.entities.length > 0);
  const entities = admin.narrowed({ projectId: project }).entities;
  const found = await all(entities.list({ user_id: "ada" }));
  const [nadia, porto] = ["Nadia", "Porto"].map((wanted) => found.find(({ name }) => name === wanted));
  assert.ok(nadia && porto);
  assert.equal((await entities.change(nadia.id, { notes: "A sister." })).notes, "A sister.");
  assert.equal((await all(entities.mentions(nadia.id))).length, 1);
  assert.equal((await entities.merge(porto.id, nadia.id)).id, nadia.id);
  await entities.restore(porto.id);
  await entities.delete(porto.id);
  assert.ok(!(await all(entities.list({ user_id: "ada" }))).some(({ name }) => name === "Porto"));
  assert.equal((await failure(entities.split(nadia.id, { aliases: ["Nobody"] }))).code, "conflict");
  assert.ok(Array.isArray(await all(admin.sessions.observations("monday"))));
  assert.match((await admin.profiles.ofProject(project, { user_id: "ada" })).text, /Nadia/);
});

test("projects, keys, users and usage", async () => {
  const { admin } = await newTenant();
  const garden = await admin.projects.create({ name: "Garden" });
  assert.equal((await admin.projects.change(garden.project_id, { name: "Yard" })).name, "Yard");
  const preview = await admin.projects.previewChange(garden.project_id, { member_visibility: "shared" });
  assert.deepEqual({ ...preview }, { sessions: 0, users: 0, user_ids: [] });
  assert.deepEqual((await all(admin.projects.list({ name: "yard" }))).map(({ name }) => name), ["Yard"]);
  const key = await admin.keys.create({ name: "phone", permissions: ["read"], user_id: "ada" });
  assert.ok((await all(admin.keys.list())).some(({ key_id }) => key_id === key.key_id));
  await admin.keys.revoke(key.key_id);
  await admin.session("monday").create({ user_id: "ada" });
  assert.equal((await admin.users.erase("ada", { dryRun: true })).sessions, 1);
  assert.equal((await admin.users.erase("ada")).sessions, 1);
  assert.equal((await admin.projects.delete(garden.project_id)).sessions_moved, 0);
  assert.equal((await admin.usage()).messages, 0);
});

test("operations without a method are called by their id, with types", async () => {
  const { admin } = await newTenant();
  assert.equal((await admin.call("livez", {})).status, "alive");
  assert.equal((await admin.call("get_tenant_settings", {})).retention_days ?? 0, 0);
});

test("an archive is exported and imported into another tenant", async () => {
  const [here, there] = [await newTenant(), await newTenant()];
  await here.admin.session("monday").create();
  await here.admin.session("monday").record({ role: "user", content: "Our boat is called Ålbatross." });
  const lines = await all(here.admin.archives.exportLines());
  assert.equal(lines.at(-1)?.["kind"], "end");
  const imported = await there.admin.archives.import(await here.admin.archives.export());
  assert.equal(imported.added.messages, 1);
  const again = await there.admin.archives.import(lines.map((line) => `${JSON.stringify(line)}\n`));
  assert.deepEqual([again.added.messages, again.unchanged.messages], [0, 1]);
  assert.deepEqual((await all(there.admin.messages.list("monday"))).map(({ content }) => content), ["Our boat is called Ålbatross."]);
  assert.equal((await failure(there.admin.archives.import("no archive\n"))).code, "invalid_request");
});
