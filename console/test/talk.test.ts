import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { StoredMessage } from "../src/api/shapes";
import { drafts } from "../src/chat/composer/drafts";
import type { TalkHost } from "../src/chat/talk/state";
import { Talk } from "../src/chat/talk/talk";
import { answering, later, Refused, settled } from "./server";

const HOST: TalkHost = {
  mayExist: () => true,
  isAddressed: () => true,
  isListed: () => true,
  onExists: () => Promise.resolve(),
  onReplied: () => Promise.resolve(),
};

function said(number: number): StoredMessage {
  return { id: `msg_${number}`, session_id: "one", seq: number, role: number % 2 ? "user" : "assistant", content: `Words ${number}`, author: null, status: "completed", metadata: {}, created_at: "2026-05-02T09:30:00Z" };
}

function page(from: number, to: number, cursors: { older?: string; newer?: string } = {}) {
  const data = Array.from({ length: to - from + 1 }, (_, at) => said(from + at));
  return { data, next_cursor: cursors.newer ?? null, previous_cursor: cursors.older ?? null, receipts: [] };
}

const session = (messages: number) => ({ data: [{ external_id: "one", message_count: messages, is_forked: false }], next_cursor: null });
const idsOf = (talk: Talk) => talk.now.messages.map((message) => message.id);

class NoEvents {
  static readonly listeners = new Map<string, () => void>();
  addEventListener(kind: string, listener: () => void): void {
    NoEvents.listeners.set(kind, listener);
  }
  close(): void {
    /* Nor is anything to be closed. */
  }
}

beforeEach(() => vi.stubGlobal("EventSource", NoEvents));
afterEach(() => vi.unstubAllGlobals());

describe("a conversation", () => {
  it("shows nothing of older messages that arrive after it was read again", async () => {
    const older = later<unknown>();
    const pages = [page(3, 4, { older: "before3" }), page(5, 6, { older: "before5" })];
    answering({
      "GET /v1/sessions?": () => session(4),
      "GET /v1/sessions/one/messages?cursor=before3": () => older.promise,
      "GET /v1/sessions/one/messages?before=end": () => pages.shift(),
      "GET /v1/chat/": () => new Refused(404, "none"),
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open(null);
    await settled();
    expect(idsOf(talk)).toEqual(["msg_3", "msg_4"]);
    const loading = talk.loadOlder();
    await talk.retry();
    expect(idsOf(talk)).toEqual(["msg_5", "msg_6"]);
    older.answer(page(1, 2));
    await loading;
    expect(idsOf(talk)).toEqual(["msg_5", "msg_6"]);
    stop();
  });

  it("keeps what is typed while the end is being loaded for words that were sent before", async () => {
    const end = later<unknown>();
    const pages: unknown[] = [page(1, 2, { newer: "after2" }), end.promise];
    answering({
      "GET /v1/sessions?": () => session(4),
      "GET /v1/sessions/one/messages?around=": () => pages.shift(),
      "GET /v1/sessions/one/messages?before=end": () => pages.shift(),
      "GET /v1/chat/": () => new Refused(404, "none"),
      "POST /v1/chat/stream": () => new Refused(503, "overloaded"),
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open("msg_1");
    await settled();
    const first = talk.send("The first words");
    await talk.send("The second words");
    expect(drafts.of("one")).toBe("The second words");
    end.answer(page(3, 4));
    await first;
    expect(drafts.of("one")).toBe("The first words\nThe second words");
    stop();
  });

  it("that is busy sends nothing, and what is typed stays", async () => {
    const end = later<unknown>();
    const asked = answering({
      "GET /v1/sessions?": () => session(4),
      "GET /v1/sessions/one/messages?around=": () => page(1, 2, { newer: "after2" }),
      "GET /v1/sessions/one/messages?before=end": () => end.promise,
      "GET /v1/chat/": () => new Refused(404, "none"),
      "POST /v1/chat/stream": () => new Refused(503, "overloaded"),
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open("msg_1");
    await settled();
    expect(talk.isBusy).toBe(false);
    drafts.put("one", "");
    const first = talk.send("The first words");
    expect(talk.isBusy).toBe(true);
    drafts.put("one", "typed");
    await talk.send("Continue.");
    expect(drafts.of("one")).toBe("Continue.\ntyped");
    expect(asked.filter((each) => each.startsWith("POST"))).toEqual([]);
    end.answer(page(3, 4));
    await first;
    drafts.put("one", "");
    stop();
  });

  it("gives nothing back of words with an image that were stored, although the answer was lost", async () => {
    const picture = { name: "boat.png", mediaType: "image/jpeg", url: "data:image/jpeg;base64,AA==" };
    const stored = { ...said(3), content: "What is this?\n[image: boat.png]" };
    let isStored = false;
    answering({
      "GET /v1/sessions?": () => session(isStored ? 3 : 2),
      "GET /v1/sessions/one/messages": () => ({ ...page(1, 2), data: isStored ? [said(1), said(2), stored] : [said(1), said(2)] }),
      "GET /v1/chat/": () => new Refused(404, "none"),
      "POST /v1/chat/stream": () => {
        isStored = true;
        throw new TypeError("the connection was lost");
      },
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open(null);
    await settled();
    expect(await talk.send("What is this?", [picture])).toEqual([]);
    expect(drafts.of("one")).toBe("");
    expect(talk.now.messages.at(-1)?.text).toBe(stored.content);
    stop();
  });

  it("shows the later of two readings, whichever arrives last", async () => {
    const slow = later<unknown>();
    const pages: unknown[] = [page(1, 2), slow.promise, page(1, 4)];
    answering({
      "GET /v1/sessions?": () => session(4),
      "GET /v1/sessions/one/messages?before=end": () => pages.shift(),
      "GET /v1/chat/": () => new Refused(404, "none"),
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open(null);
    await settled();
    const first = talk.retry();
    await talk.retry();
    slow.answer(page(1, 3));
    await first;
    expect(idsOf(talk)).toEqual(["msg_1", "msg_2", "msg_3", "msg_4"]);
    stop();
  });

  it("that the server refuses to show is not called out of reach, and is asked for again", async () => {
    const answers: unknown[] = [new Refused(503, "The database is busy."), session(2)];
    answering({
      "GET /v1/sessions?": () => answers.shift(),
      "GET /v1/sessions/one/messages": () => page(1, 2),
      "GET /v1/chat/": () => new Refused(404, "none"),
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open(null);
    await settled();
    expect([talk.now.phase, talk.now.notice?.text]).toEqual(["refused", "The database is busy."]);
    await talk.retry();
    expect(talk.now.phase).toBe("here");
    stop();
  });

  it("takes back that the server can’t be reached when it is back", async () => {
    answering({
      "GET /v1/sessions?": () => session(2),
      "GET /v1/sessions/one/messages": () => page(1, 2),
      "GET /v1/chat/": () => new Refused(404, "none"),
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open(null);
    await settled();
    await talk.stop();
    expect(talk.now.notice?.text).toContain("can’t be reached");
    NoEvents.listeners.get("reset")?.();
    await settled();
    expect(talk.now.notice).toBeNull();
    stop();
  });

  it("stores the words as a draft while files are sent, and gives them back if that fails", async () => {
    const upload = later<unknown>();
    answering({
      "GET /v1/sessions?": () => session(2),
      "GET /v1/sessions/one/messages": () => page(1, 2),
      "POST /v1/sessions/one/messages/batch": () => upload.promise,
      "GET /v1/chat/": () => new Refused(404, "none"),
    });
    const talk = new Talk("one", HOST);
    const stop = talk.open(null);
    await settled();
    const sending = talk.send("What does it say?", [{ name: "notes.txt", parts: ["4417"] }]);
    await settled();
    expect(sessionStorage.getItem("cloister.drafts")).toContain("What does it say?");
    drafts.put("one", "And more");
    upload.answer(new Refused(413, "too large"));
    expect(await sending).toHaveLength(1);
    expect(drafts.of("one")).toBe("What does it say?\nAnd more");
    stop();
  });
});
