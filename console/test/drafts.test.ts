import { describe, expect, it, vi } from "vitest";

import { Drafts } from "../src/chat/drafts";

describe("drafts", () => {
  it("are each session's own, and told of when they change", () => {
    const drafts = new Drafts();
    const watcher = vi.fn();
    drafts.watch(watcher);
    drafts.put("one", "hello");
    expect([drafts.of("one"), drafts.of("other"), drafts.any]).toEqual(["hello", "", true]);
    drafts.put("one", "");
    expect(drafts.any).toBe(false);
    expect(watcher).toHaveBeenCalledTimes(2);
  });

  it("take back what was not kept, before what was typed since", () => {
    const drafts = new Drafts();
    drafts.giveBack("one", "lost words");
    expect(drafts.of("one")).toBe("lost words");
    drafts.put("one", "more");
    drafts.giveBack("one", "lost again");
    expect(drafts.of("one")).toBe("lost again\nmore");
  });

  it("let go of what was kept after all, unless it was changed", () => {
    const drafts = new Drafts();
    drafts.giveBack("one", "kept");
    drafts.takeBack("one", "kept");
    expect(drafts.of("one")).toBe("");
    drafts.put("one", "kept, and more");
    drafts.takeBack("one", "kept");
    expect(drafts.of("one")).toBe("kept, and more");
  });

  it("let go of what was kept after all, and of nothing that was typed since", () => {
    const drafts = new Drafts();
    drafts.put("one", "kept");
    drafts.giveBack("one", "kept");
    drafts.takeBack("one", "kept");
    expect(drafts.of("one")).toBe("kept");
    drafts.put("one", "typed since");
    drafts.giveBack("one", "two\nlines");
    drafts.takeBack("one", "two\nlines");
    expect(drafts.of("one")).toBe("typed since");
  });

  it("stay with whoever typed them, and are nobody else's", () => {
    const drafts = new Drafts();
    drafts.belongTo("anna");
    drafts.put("one", "secret");
    drafts.belongTo("anna");
    expect(drafts.of("one")).toBe("secret");
    drafts.belongTo("bert");
    expect(drafts.of("one")).toBe("");
  });
});
