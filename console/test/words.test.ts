import { describe, expect, it } from "vitest";

import type { Project } from "../src/api/shapes";
import { ago, day, exactly } from "../src/times";
import { count, moveSentence, pinnedSentence, placeName, recallSentence, titleFrom, titleOf } from "../src/words";

const garden: Project = {
  project_id: "proj_1",
  name: "Garden",
  is_default: true,
  member_visibility: "shared",
  memory_count: 0,
  settings: {},
  warnings: [],
  created_at: "2026-05-02T09:30:00Z",
};

describe("pinning", () => {
  it("promises no reply what only a model is given", () => {
    expect(pinnedSentence(true)).toBe("Pinned. The model is given it with every question.");
    expect(pinnedSentence(false)).toContain("No model is connected");
  });
});

describe("a move", () => {
  it("says what becomes visible where, and what stays", () => {
    const told = { project_id: "proj_1", user_id: null, message_count: 2 };
    expect(moveSentence(told, null, [garden])).toBe(
      "After the move, chats in no project that have no user can recall its 2 messages. Chats in Garden no longer can. Entities learned from it stay in Garden.",
    );
    expect(moveSentence({ ...told, project_id: null, message_count: 1 }, "proj_1", [garden])).toBe(
      "After the move, all chats in Garden can recall its 1 message. Chats in no project no longer can.",
    );
  });

  it("does not speak of users where there are none", () => {
    expect(moveSentence({ project_id: "proj_1", user_id: null, message_count: 2 }, null, [garden], false)).toContain("After the move, chats in no project can recall its 2 messages.");
  });

  it("names the user whose conversations recall it where a place is divided by user", () => {
    const divided: Project = { ...garden, member_visibility: "private" };
    const told = { project_id: null, user_id: "ana", message_count: 1 };
    expect(moveSentence(told, "proj_1", [divided])).toContain("After the move, ana’s chats in Garden can");
    expect(moveSentence({ ...told, user_id: null }, "proj_1", [divided])).toContain("chats in Garden that have no user can");
  });
});

describe("names", () => {
  it("of places", () => {
    expect(placeName(null, [garden])).toBe("No project");
    expect(placeName("proj_1", [garden])).toBe("Garden");
    expect(placeName("proj_2", [garden])).toBe("A project");
    expect(recallSentence("proj_1", [garden])).toBe("Remembers other chats in Garden. Nothing from elsewhere.");
    expect(recallSentence(null, [garden])).toBe("Remembers other chats without a project. Nothing from elsewhere.");
    expect(recallSentence("proj_1", [garden], true)).not.toContain("user");
    expect(recallSentence("proj_1", [{ ...garden, member_visibility: "private" }], true)).toContain("Chats of a user are remembered only for that user.");
  });

  it("of conversations", () => {
    expect(titleOf(undefined, "chat-0011")).toBe("Untitled chat");
    expect(titleOf(undefined, "lisbon")).toBe("lisbon");
    expect(titleFrom("  The\n gate   code ")).toBe("The gate code");
    expect(titleFrom("# How do **roses** and `beans` grow, snake_case 2*3?")).toBe("How do roses and beans grow, snake_case 2*3?");
    expect(titleFrom("***")).toBe("***");
    expect(titleFrom("word ".repeat(40))).toMatch(/^(word )+word…$/);
    expect(titleFrom("x".repeat(100))).toHaveLength(61);
    expect(titleFrom("🌹".repeat(100)).isWellFormed()).toBe(true);
  });
});

describe("numbers and times", () => {
  it("are said as people say them", () => {
    expect(count(1, "memory", "memories")).toBe("1 memory");
    expect(count(1_200, "memory", "memories")).toBe("1,200 memories");
    const now = Date.parse("2026-05-02T12:00:00Z");
    expect(ago("2026-05-02T11:59:30Z", now, "en")).toBe("now");
    expect(ago("2026-05-02T11:15:00Z", now, "en")).toBe("45m ago");
    expect(ago("2026-05-02T02:00:00Z", now, "en")).toBe("10h ago");
    expect(ago("2026-04-29T12:00:00Z", now, "en")).toBe("3d ago");
    expect(ago("2026-04-02T12:00:00Z", now, "en")).toBe("Apr 2");
  });

  it("are the reader's", () => {
    const now = Date.parse("2026-05-02T12:00:00Z");
    expect(ago("2026-05-02T02:00:00Z", now, "de")).toBe("vor 10 Std.");
    expect(day("2025-05-02T12:00:00Z", now, "de")).toBe("2. Mai 2025");
    expect(exactly("2026-05-02T12:00:00Z", "en")).toMatch(/^Saturday, May 2, 2026 at /);
  });
});
