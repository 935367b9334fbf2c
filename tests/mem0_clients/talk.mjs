// The unmodified TypeScript client of mem0 against a Cloister; prints what it was answered.
import { MemoryClient } from "mem0ai";

const [address, key, reading] = process.argv.slice(2);
const client = new MemoryClient({ apiKey: key, host: `${address}/mem0` });
const filters = { user_id: "alice" };

async function refusal(call) {
  try {
    return await call();
  } catch (error) {
    return { name: error.name, message: error.message };
  }
}

await client.ping();
const said = { identity: [client.organizationId, client.projectId] };
said.added = await client.add(
  [
    { role: "user", content: "I am a vegetarian, and I live in Lisbon." },
    { role: "assistant", content: "Noted." },
  ],
  { userId: "alice", agentId: "waiter", metadata: { favouriteTopic: "food" } },
);
said.plain = await client.add([{ role: "user", content: "Alice owns a boat." }], {
  userId: "alice",
  runId: "ticket-1",
  infer: false,
});
const id = said.added.results.find((each) => each.memory.includes("vegetarian")).id;
said.found = await client.search("What does she eat?", { filters, topK: 1 });
said.filtered = await client.getAll({
  filters: { AND: [filters, { metadata: { favouriteTopic: "food" } }] },
  page: 1,
  pageSize: 1,
});
said.got = await client.get(id);
said.updated = await client.update(id, { text: "Alice is a vegan.", metadata: { favouriteTopic: "diet" } });
said.history = await client.history(id);
said.users = await client.users();
said.batch = [
  await client.batchUpdate([{ memoryId: id, text: "Alice eats no meat." }]),
  await client.get(id),
  await client.batchDelete([id]),
];
said.missing = await refusal(() => client.get(id));
said.unsupported = await refusal(() => client.getProfile({ entityId: "alice" }));
said.option = await refusal(() => client.search("x", { filters, rerank: true }));
const reader = new MemoryClient({ apiKey: reading, host: `${address}/mem0` });
said.refused = await refusal(() => reader.deleteAll({ userId: "alice" }));
said.wildcard = await refusal(() => reader.search("x", { filters: { user_id: "*" } }));
said.deleted = await client.deleteAll({ userId: "alice" });
said.left = await client.getAll({ filters });
said.forgotten = await client.deleteUsers({ userId: "alice" });
said.nobody = await client.users();
console.log(JSON.stringify(said));
