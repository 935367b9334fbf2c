import { describe, expect, it } from "vitest";

import type { Context, StoredMessage } from "../src/api/shapes";
import { placeOfNew } from "../src/chat/chat";
import { contextOf, fromStored, upToTheQuestion, wordsOf, type Said } from "../src/chat/said";

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
const context: Context = {
  session_id: "gate",
  project_id: null,
  relevant_history: [],
  memories: [],
  entities: [],
  observations: [],
  tokens: 0,
};

describe("a stored message", () => {
  it("keeps its words, how it ended, and what was recalled for it", () => {
    const shown = fromStored(stored, context);
    expect(shown && wordsOf(shown)).toBe("Half of");
    expect(shown?.metadata).toEqual({
      message_id: "msg_1",
      status: "partial",
      created_at: "2026-05-02T09:30:00Z",
      error: "The model broke off.",
    });
    expect(shown && contextOf(shown)).toBe(context);
  });

  it("of a tool is not shown", () => {
    expect(fromStored({ ...stored, role: "tool" }, undefined)).toBeNull();
  });
});

it("replies that are about to be replaced give way", () => {
  const say = (id: string, role: Said["role"]): Said => ({ id, role, parts: [{ type: "text", text: id }] });
  const talk = [say("q1", "user"), say("a1", "assistant"), say("q2", "user"), say("a2", "assistant"), say("a3", "assistant")];
  expect(upToTheQuestion(talk).map((each) => each.id)).toEqual(["q1", "a1", "q2"]);
});

describe("the place of a new conversation", () => {
  const projects = [
    { project_id: "proj_1", is_default: false },
    { project_id: "proj_2", is_default: true },
  ];
  const free = { project_id: null, confined: false };

  it("is where somebody chose, if that is still there", () => {
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
