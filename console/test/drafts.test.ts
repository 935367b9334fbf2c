import { describe, expect, it, vi } from "vitest";

import { Drafts } from "../src/chat/composer/drafts";

function returned(words: string, since = "", stored = words): Drafts {
  const drafts = new Drafts();
  drafts.sending("one", { words, stored, after: "msg_1" });
  drafts.put("one", since);
  drafts.giveBack("one");
  return drafts;
}

describe("drafts", () => {
  it("are each session's own, and watchers hear of changes", () => {
    const drafts = new Drafts();
    const watcher = vi.fn();
    drafts.watch(watcher);
    drafts.put("one", "hello");
    expect([drafts.of("one"), drafts.of("other"), drafts.any]).toEqual(["hello", "", true]);
    drafts.put("one", "");
    expect(drafts.any).toBe(false);
    expect(watcher).toHaveBeenCalledTimes(2);
  });

  it("take back what was not stored, before what was typed since", () => {
    expect(returned("lost words").of("one")).toBe("lost words");
    expect(returned("lost words", "more").of("one")).toBe("lost words\nmore");
  });

  it("let go of what was stored after all, unless it was changed", () => {
    const drafts = returned("kept");
    drafts.settle("one", { id: "msg_2", content: "kept" });
    expect(drafts.of("one")).toBe("");
    const changed = returned("kept");
    changed.put("one", "kept, and more");
    changed.settle("one", { id: "msg_2", content: "kept" });
    expect(changed.of("one")).toBe("kept, and more");
  });

  it("let go of words that were stored with the names of images", () => {
    const drafts = returned("What is this?", "", "What is this?\n[image: boat.png]");
    drafts.settle("one", { id: "msg_2", content: "What is this?\n[image: boat.png]" });
    expect(drafts.of("one")).toBe("");
  });

  it("put words that were not sent before what is in the field", () => {
    const drafts = new Drafts();
    drafts.put("one", "typed");
    drafts.putBefore("one", "not sent");
    expect(drafts.of("one")).toBe("not sent\ntyped");
  });

  it("let go of nothing that was typed since", () => {
    const drafts = returned("two\nlines", "typed since");
    drafts.settle("one", { id: "msg_2", content: "two\nlines" });
    expect(drafts.of("one")).toBe("typed since");
  });

  it("keep words that were only said before in the same way", () => {
    const drafts = returned("yes");
    drafts.settle("one", { id: "msg_1", content: "yes" });
    expect(drafts.of("one")).toBe("yes");
    drafts.settle("one", { id: "msg_2", content: "yes" });
    expect(drafts.of("one")).toBe("yes");
  });

  it("outlive a refresh, also in the middle of sending, and leave nothing behind when all was sent", () => {
    sessionStorage.clear();
    const before = new Drafts(sessionStorage);
    before.belongTo("anna");
    before.put("one", "typed");
    before.sending("two", { words: "on its way", stored: "on its way", after: null });
    const after = new Drafts(sessionStorage);
    after.belongTo("anna");
    expect([after.of("one"), after.of("two")]).toEqual(["typed", "on its way"]);
    after.put("one", "");
    after.settle("two", { id: "msg_2", content: "on its way" });
    expect(sessionStorage).toHaveLength(0);
  });

  it("stay with the key that typed them, and are nobody else's", () => {
    sessionStorage.clear();
    const drafts = new Drafts(sessionStorage);
    drafts.belongTo("anna");
    drafts.put("one", "secret");
    drafts.belongTo("anna");
    expect(drafts.of("one")).toBe("secret");
    const other = new Drafts(sessionStorage);
    other.belongTo("bert");
    expect(other.of("one")).toBe("");
    expect(sessionStorage.getItem("cloister.drafts") ?? "").not.toContain("secret");
  });
});
