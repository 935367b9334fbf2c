/** DOOR-6, ISO-12: events with reconnection, chat, and archives that are cut off. */

import assert from "node:assert/strict";
import { request as forward } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";

import { Cloister } from "@cloister/client";
import type { ChatPart, CloisterEvent } from "@cloister/client";

import { all, answering, connect, failure, newTenant, URL_OF_SERVER } from "./support.ts";

/** Passes requests on to the server; the pause before a reconnection is shortened. */
function passing(request: IncomingMessage, response: ServerResponse): void {
  const headers = { ...request.headers, host: new URL(URL_OF_SERVER).host };
  const onward = forward(URL_OF_SERVER + (request.url ?? ""), { method: request.method ?? "GET", headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.on("data", (piece: Buffer) => response.write(piece.toString().replace("retry: 2000", "retry: 10")));
    answer.on("end", () => response.end());
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end();
}

async function next(events: AsyncGenerator<CloisterEvent>): Promise<CloisterEvent> {
  const { value, done } = await events.next();
  assert.ok(!done);
  return value;
}

test("events arrive as they happen, and none is lost when the connection breaks", async (t) => {
  const { admin, key } = await newTenant();
  const open: ServerResponse[] = [];
  const proxy = await answering((request, response) => {
    open.push(response);
    passing(request, response);
  });
  t.after(proxy.close);
  const events = new Cloister({ url: proxy.url, key }).events();
  assert.equal((await next(events)).type, "ready");
  await admin.session("monday").create();
  assert.deepEqual({ ...(await next(events)), id: "", created_at: "", project_id: "" }, {
    type: "session.created",
    session_id: "monday",
    user_id: null,
    id: "",
    created_at: "",
    project_id: "",
  });
  open[0]?.destroy();
  await admin.session("tuesday").create();
  const missed = await next(events);
  assert.deepEqual([missed.type, "session_id" in missed && missed.session_id], ["session.created", "tuesday"]);
  assert.equal(proxy.requests.length, 2);
  assert.match(String(proxy.requests[1]?.headers["last-event-id"]), /^[0-9a-f]+$/);
  await events.return();
});

test("a stream that is resumed with an id that is not known begins with reset", async () => {
  const { admin } = await newTenant();
  const events = admin.events({ lastEventId: "0".repeat(48) });
  assert.equal((await next(events)).type, "reset");
  await events.return();
});

test("events of another tenant, user or project are never sent", async () => {
  const [here, there] = [await newTenant(), await newTenant()];
  const garden = await here.admin.projects.create({ name: "Garden" });
  const streams = [
    here.admin.events({ userId: "ada" }),
    here.admin.narrowed({ userId: "ada" }).events(),
    here.admin.narrowed({ projectId: garden.project_id }).events(),
  ];
  for (const stream of streams) assert.equal((await next(stream)).type, "ready");
  await there.admin.session("monday").create({ user_id: "ada" });
  await here.admin.session("of ben").create({ user_id: "ben" });
  await here.admin.session("of ada").create({ user_id: "ada", project_id: garden.project_id });
  for (const stream of streams) {
    const event = await next(stream);
    assert.equal("session_id" in event && event.session_id, "of ada");
    await stream.return();
  }
});

test("the events of a revoked key end with an error; a wrong address is an error at once", async () => {
  const { admin } = await newTenant();
  const made = await admin.keys.create({ name: "phone" });
  const requests: string[] = [];
  const phone = connect(made.key, {
    fetch: async (input, init) => {
      requests.push(String(input));
      const answer = await fetch(input, init);
      if (answer.body === null || requests.length > 1) return answer;
      const text = new TextDecoderStream();
      const quick = new TransformStream<string, string>({
        transform: (piece, controller) => controller.enqueue(piece.replace("retry: 2000", "retry: 10")),
      });
      const body = answer.body.pipeThrough(text as ReadableWritablePair<string, Uint8Array>).pipeThrough(quick);
      return new Response(body.pipeThrough(new TextEncoderStream()), { headers: answer.headers });
    },
  });
  const events = phone.events();
  await next(events);
  await admin.keys.revoke(made.key_id);
  assert.equal((await failure(events.next())).code, "unauthenticated");
  assert.equal((await failure(new Cloister({ url: "http://127.0.0.1:9", key: "k", maxRetries: 0 }).events().next())).code, "connection_failed");
});

test("a signal ends a stream of events, also while it waits for a reconnection", async () => {
  const { admin } = await newTenant();
  const controller = new AbortController();
  const events = admin.events({ signal: controller.signal });
  await next(events);
  setTimeout(() => controller.abort(new Error("enough")), 20);
  await assert.rejects(events.next(), /enough/);
  await assert.rejects(admin.events({ signal: AbortSignal.abort(new Error("before")) }).next(), /before/);
});

function textOf(parts: ChatPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
}

/** Reads until the reply has begun. */
async function untilText(parts: AsyncGenerator<ChatPart>): Promise<ChatPart> {
  for (;;) {
    const { value, done } = await parts.next();
    assert.ok(!done);
    if (value.type === "text-delta") return value;
  }
}

test("a chat is streamed with what was recalled, and recorded", async () => {
  const { admin } = await newTenant();
  await all(admin.session("monday").chat({ text: "Our boat is called Albatross." }));
  const parts = await all(admin.session("tuesday").chat({ text: "What is our boat called?" }));
  assert.equal(textOf(parts), "You said: What is our boat called?");
  const recalled = parts.find((part) => part.type === "data-context");
  assert.ok(recalled?.data.relevant_history.some(({ content }) => content === "Our boat is called Albatross."));
  const finish = parts.at(-1);
  assert.equal(finish?.type === "finish" && finish.messageMetadata.status, "completed");
  assert.equal((await all(admin.messages.list("tuesday"))).length, 2);
  assert.deepEqual(await all(admin.chat.follow("tuesday")), []);
});

test("a second question during a reply is refused and not sent again; the reply can be followed and stopped", async () => {
  const { admin, key } = await newTenant();
  const reply = admin.session("monday").chat({ text: "SLOWLY, please." });
  const begun = [await untilText(reply)];
  let sent = 0;
  const other = connect(key, { fetch: async (input, init) => (sent++, await fetch(input, init)) });
  const refused = await failure(other.session("monday").chat({ text: "Me too." }).next());
  assert.deepEqual([refused.code, sent], ["turn_in_progress", 1]);
  const followed = other.chat.follow("monday");
  const followedBegun = [await untilText(followed)];
  assert.equal((await admin.chat.stop("monday")).stopped, true);
  const [parts, same] = [await all(reply), [...followedBegun, ...(await all(followed))]];
  const end = parts.at(-1);
  assert.equal(end?.type === "finish" && end.messageMetadata.status, "partial");
  assert.equal(textOf(same), textOf([...begun, ...parts]));
});

test("a session that moves out of reach in the middle of a stream ends the stream with an error", async () => {
  const { admin } = await newTenant();
  const [garden, kitchen] = [await admin.projects.create({ name: "Garden" }), await admin.projects.create({ name: "Kitchen" })];
  const made = await admin.keys.create({ name: "phone", project_id: garden.project_id, confined: true });
  const reply = connect(made.key).session("monday").chat({ text: "SLOWLY, please." });
  await untilText(reply);
  await admin.sessions.change("monday", { project_id: kitchen.project_id });
  const parts = await all(reply);
  assert.equal(parts.at(-1)?.type, "error");
  assert.equal((await failure(connect(made.key).sessions.get("monday"))).code, "not_found");
  await admin.chat.stop("monday");
});

test("a stream that is cut off is an error, never a shorter answer", async (t) => {
  const head = { "Content-Type": "text/event-stream" };
  const chat = await answering((_, response) => response.writeHead(200, head).end('data: {"type":"start","messageId":"t"}\n\n'));
  t.after(chat.close);
  assert.equal((await failure(all(new Cloister({ url: chat.url, key: "k" }).session("a").chat({ text: "b" })))).code, "connection_failed");
  const archive = await answering((_, response) =>
    response.writeHead(200, { "Content-Type": "application/x-ndjson" }).end('{"kind":"session"}\n'),
  );
  t.after(archive.close);
  assert.equal((await failure(all(new Cloister({ url: archive.url, key: "k" }).archives.exportLines()))).code, "connection_failed");
});
