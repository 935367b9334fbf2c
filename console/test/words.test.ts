import { describe, expect, it } from "vitest";

import type { Project } from "../src/api/shapes";
import { ago, count, moveSentence, placeName, recallSentence, titleFrom, titleOf } from "../src/words";

const garden: Project = {
  project_id: "proj_1",
  name: "Garden",
  is_default: true,
  member_visibility: "shared",
  memory_count: 0,
  settings: {},
  created_at: "2026-05-02T09:30:00Z",
};

describe("a move", () => {
  it("says what becomes visible where, and what stays", () => {
    expect(moveSentence("proj_1", null, 2, [garden])).toBe(
      "All of its 2 messages can then be recalled by every conversation in the shared pool, and by none in Garden any more. Entities that were learned from it stay in Garden.",
    );
    expect(moveSentence(null, "proj_1", 1, [garden])).toBe(
      "Its one message can then be recalled by every conversation in Garden, and by none in the shared pool any more.",
    );
  });
});

describe("names", () => {
  it("of places", () => {
    expect(placeName(null, [garden])).toBe("the shared pool");
    expect(placeName("proj_1", [garden])).toBe("Garden");
    expect(placeName("proj_2", [garden])).toBe("a project");
    expect(recallSentence("proj_1", [garden])).toContain("Garden, and nothing from outside");
  });

  it("of conversations", () => {
    expect(titleOf(undefined, "chat-0011")).toBe("Untitled conversation");
    expect(titleOf(undefined, "lisbon")).toBe("lisbon");
    expect(titleFrom("  The\n gate   code ")).toBe("The gate code");
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
    expect(ago("2026-05-02T11:59:30Z", now)).toBe("now");
    expect(ago("2026-05-02T11:15:00Z", now)).toBe("45 min");
    expect(ago("2026-05-02T02:00:00Z", now)).toBe("10 h");
    expect(ago("2026-04-29T12:00:00Z", now)).toBe("3 d");
  });
});
