import { describe, expect, it } from "vitest";

import { chatAddress, currentEntry, go, projectAddress, readRoute, replaceAddress, userAddress } from "../src/router";

describe("an address", () => {
  it("is a page", () => {
    expect(readRoute("/")).toEqual({ page: "chat", session: null });
    expect(readRoute("/c/chat-1")).toEqual({ page: "chat", session: "chat-1" });
    expect(readRoute("/p/proj_1")).toEqual({ page: "project", project: "proj_1", part: null });
    expect(readRoute("/p/proj_1/")).toEqual({ page: "project", project: "proj_1", part: null });
    expect(readRoute("/p/none/timeline")).toEqual({ page: "project", project: null, part: "timeline" });
    expect(readRoute("/u/ada")).toEqual({ page: "user", user: "ada", part: null });
    expect(readRoute("/u/ada/memories")).toEqual({ page: "user", user: "ada", part: "memories" });
    expect(readRoute("/settings")).toEqual({ page: "settings", part: null });
    expect(readRoute("/memory/user")).toEqual({ page: "memory", part: "user" });
    expect(readRoute("/start")).toEqual({ page: "start" });
  });

  it("that leads nowhere is unknown", () => {
    for (const path of ["/c", "/c/", "/c/a/b", "/p", "/p/proj_1/nonsense", "/p/proj_1/memories/x", "/u", "/u/ada/nonsense", "/start/x", "/nonsense", "/c/%ff"]) {
      expect(readRoute(path), path).toEqual({ page: "unknown" });
    }
  });

  it("keeps every id as it is", () => {
    for (const id of ["a b", "a/b", "a%2Fb", "ü#?&", "x.y", "..x"]) {
      expect(readRoute(chatAddress(id))).toEqual({ page: "chat", session: id });
      expect(readRoute(userAddress(id))).toEqual({ page: "user", user: id, part: null });
      expect(readRoute(projectAddress(id, "settings"))).toEqual({ page: "project", project: id, part: "settings" });
    }
    expect(chatAddress("gate", "msg_1")).toBe("/c/gate#msg_1");
    expect(projectAddress(null)).toBe("/p/none");
  });

  it("is pushed once, and an entry remembers which new conversation it was", () => {
    go("/c/one");
    const length = history.length;
    go("/c/one");
    expect(history.length).toBe(length);
    go("/", { session: "chat-2" });
    expect([history.length, currentEntry().session]).toEqual([length + 1, "chat-2"]);
    replaceAddress("/c/chat-2");
    expect([history.length, location.pathname]).toEqual([length + 1, "/c/chat-2"]);
  });
});
