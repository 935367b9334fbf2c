import { describe, expect, it } from "vitest";

import type { Hit, Project, Session, SignedIn } from "../src/api/shapes";
import { MOST_USERS, targetsOf, withHits } from "../src/sidebar/search-targets";

const me: SignedIn = { tenant_id: "t", key_id: "k", name: "admin", permissions: ["admin"], project_id: null, confined: false, user_id: null };
const projects = [
  { project_id: "private", member_visibility: "private" },
  { project_id: "shared", member_visibility: "shared" },
] as Project[];

function session(project_id: string | null, user_id: string | null, updated_at = "2026-05-01"): Session {
  return { external_id: `${project_id} ${user_id} ${updated_at}`, project_id, user_id, updated_at } as Session;
}

function hit(id: string, relevance: number, strength: Hit["strength"] = "strong"): Hit {
  return { id, relevance, strength } as Hit;
}

describe("a search asks", () => {
  it("each project once, and each user's part where users are apart", () => {
    const sessions = [session("private", "ann"), session("private", "ann", "2026-05-02"), session("private", "ben"), session("shared", "ann"), session(null, "ann"), session(null, null)];
    expect(targetsOf(projects, sessions, me).all).toEqual([
      { project: "private", user: null },
      { project: "shared", user: null },
      { project: null, user: null },
      { project: "private", user: "ann" },
      { project: "private", user: "ben" },
      { project: null, user: "ann" },
    ]);
  });

  it("nothing outside of what its key reaches", () => {
    const sessions = [session("private", "ann"), session(null, "ann")];
    expect(targetsOf(projects.slice(0, 1), sessions, { ...me, confined: true }).all).toEqual([
      { project: "private", user: null },
      { project: "private", user: "ann" },
    ]);
    expect(targetsOf(projects, sessions, { ...me, user_id: "ann" }).all.filter((each) => each.user !== null)).toEqual([]);
  });

  it("so many users and no more, those who wrote last", () => {
    const sessions = Array.from({ length: MOST_USERS + 5 }, (_, number) => session("private", `user-${number}`, `2026-05-01T00:${String(number).padStart(2, "0")}`));
    const targets = targetsOf(projects, sessions, me);
    const users = targets.all.flatMap((each) => each.user ?? []);
    expect([users.length, targets.isCut]).toEqual([MOST_USERS, true]);
    expect(users).toContain(`user-${MOST_USERS + 4}`);
    expect(users).not.toContain("user-0");
    expect(targetsOf(projects, sessions.slice(5), me).isCut).toBe(false);
  });
});

describe("the hits of a project", () => {
  const order = ["private", null];

  it("are those of all its parts, the most relevant first, each once", () => {
    const first = withHits([], "private", [hit("a", 0.5)], order);
    const both = withHits(first, "private", [hit("b", 0.9), hit("a", 0.5)], order);
    expect(both.map((each) => [each.project, each.hits.map((one) => one.id)])).toEqual([["private", ["b", "a"]]]);
  });

  it("are weak only where none is strong", () => {
    const weak = withHits([], "private", [hit("a", 0.2, "weak")], order);
    expect(weak[0]?.hits).toHaveLength(1);
    expect(withHits(weak, "private", [hit("b", 0.9)], order)[0]?.hits.map((each) => each.id)).toEqual(["b"]);
    expect(withHits(weak, null, [], order)).toEqual(weak);
  });

  it("stand in the order of the projects, whichever came first", () => {
    const found = withHits(withHits([], null, [hit("a", 1)], order), "private", [hit("b", 1)], order);
    expect(found.map((each) => each.project)).toEqual(["private", null]);
  });
});
