import { describe, expect, it } from "vitest";

import type { StoredMessage } from "../src/api/shapes";
import { placeOfNew } from "../src/chat/new-chat";
import { versionsOf } from "../src/chat/talk/branches";
import { withEnd, type Loaded } from "../src/chat/talk/history";
import { fromStored, newSaid, upToTheQuestion } from "../src/chat/talk/said";

const stored: StoredMessage = {
  id: "msg_1",
  session_id: "gate",
  seq: 1,
  role: "assistant",
  content: "Half of",
  author: null,
  status: "partial",
  metadata: { error: "The model broke off." },
  created_at: "2026-05-02T09:30:00Z",
};

describe("a stored message", () => {
  it("keeps its words, how it ended, and the key it was shown with", () => {
    const shown = fromStored(stored, "here-1");
    expect(shown).toMatchObject({ key: "here-1", id: "msg_1", text: "Half of", status: "partial", error: "The model broke off.", attachment: null });
    expect(fromStored(stored)?.key).toBe("msg_1");
  });

  it("of a tool is not shown", () => {
    expect(fromStored({ ...stored, role: "tool" })).toBeNull();
  });

  it("knows the file that it is a part of, whatever else the metadata say", () => {
    expect(fromStored({ ...stored, metadata: { attachment: { name: "a.txt", part: 1, parts: 2 } } })?.attachment).toEqual({ name: "a.txt", part: 1, parts: 2 });
    expect(fromStored({ ...stored, metadata: { attachment: "a.txt" } })?.attachment).toBeNull();
    expect(fromStored({ ...stored, metadata: { attachment: { name: 1 } } })?.attachment).toBeNull();
  });
});

it("replies that are about to be replaced give way", () => {
  const talk = ["user", "assistant", "user", "assistant", "assistant"].map((role, number) => newSaid(String(number), role as "user", "", "completed"));
  expect(upToTheQuestion(talk).map((each) => each.key)).toEqual(["0", "1", "2"]);
});

describe("what is loaded", () => {
  const some = (...ids: string[]): Loaded => ({ messages: ids.map((id) => ({ ...stored, id })), receipts: new Map(), older: ids[0] ?? null, newer: null });

  it("gets its end anew where the two touch", () => {
    const loaded = withEnd(some("a", "b", "c"), some("b", "c", "d"));
    expect(loaded.messages.map((each) => each.id)).toEqual(["a", "b", "c", "d"]);
    expect(loaded.older).toBe("a");
  });

  it("is only the end where they do not", () => {
    expect(withEnd(some("a", "b"), some("x", "y")).messages.map((each) => each.id)).toEqual(["x", "y"]);
    expect(withEnd(some("a", "b"), some()).messages).toEqual([]);
  });
});

describe("versions of a message", () => {
  const message = (id: string, seq: number, role: "user" | "assistant", parent: string | null, more: Partial<StoredMessage> = {}): StoredMessage => ({
    ...stored,
    id,
    seq,
    role,
    parent_id: parent,
    is_current: true,
    status: "completed",
    ...more,
  });

  it("are those with the same parent, in the order in which they were made", () => {
    const found = versionsOf([
      message("q1", 1, "user", null, { is_current: false }),
      message("a1", 2, "assistant", "q1", { is_current: false }),
      message("q2", 3, "user", null),
      message("a2", 4, "assistant", "q2", { is_current: false }),
      message("a3", 5, "assistant", "q2"),
    ]);
    expect(found.get("q2")).toEqual({ ids: ["q1", "q2"], index: 1 });
    expect(found.get("a3")).toEqual({ ids: ["a2", "a3"], index: 1 });
    expect([...found.keys()]).toEqual(["q2", "a3"]);
  });

  it("are no versions where there is one, or where the other one failed", () => {
    expect(versionsOf([message("q1", 1, "user", null), message("a1", 2, "assistant", "q1"), message("a2", 3, "assistant", "q1", { is_current: false, status: "failed" })]).size).toBe(0);
  });
});

describe("the project of a new conversation", () => {
  const projects = [
    { project_id: "proj_1", is_default: false },
    { project_id: "proj_2", is_default: true },
  ];
  const free = { project_id: null, confined: false };

  it("is the one that was chosen, if it still exists", () => {
    expect(placeOfNew("proj_1", free, projects)).toBe("proj_1");
    expect(placeOfNew(null, free, projects)).toBeNull();
    expect(placeOfNew("proj_gone", free, projects)).toBe("proj_2");
  });

  it("is else the key's own project, else the default one", () => {
    expect(placeOfNew(undefined, free, projects)).toBe("proj_2");
    expect(placeOfNew(undefined, { project_id: "proj_1", confined: false }, projects)).toBe("proj_1");
  });

  it("is never outside of what a confined key may reach", () => {
    expect(placeOfNew(null, { project_id: "proj_1", confined: true }, projects)).toBe("proj_1");
    expect(placeOfNew("proj_2", { project_id: "proj_1", confined: true }, projects)).toBe("proj_1");
  });
});
