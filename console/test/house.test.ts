import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { SignedIn } from "../src/api/shapes";
import { House } from "../src/house";
import { answering, later, settled } from "./server";

const ME: SignedIn = { tenant_id: "t", key_id: "k", name: "me", permissions: ["read", "write", "admin"], project_id: null, confined: false, user_id: null };

/** The stream of events of the server, as a test publishes them. */
class Published {
  static last: Published | null = null;
  private readonly listeners = new Map<string, (event: { data: string }) => void>();
  constructor() {
    Published.last = this;
  }
  addEventListener(kind: string, listener: (event: { data: string }) => void): void {
    this.listeners.set(kind, listener);
  }
  publish(kind: string, session = "one"): void {
    this.listeners.get(kind)?.({ data: JSON.stringify({ type: kind, session_id: session, project_id: null }) });
  }
  close(): void {
    Published.last = null;
  }
}

const listed = (...ids: string[]) => ({ data: ids.map((id) => ({ external_id: id, updated_at: "2026-05-02T09:30:00Z" })), next_cursor: null });

let stop: () => void = () => undefined;
beforeEach(() => vi.stubGlobal("EventSource", Published));
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("a conversation that is deleted while all are read does not come back", async () => {
  const slow = later<unknown>();
  answering({
    "GET /org/projects": () => ({ data: [], next_cursor: null }),
    "GET /v1/sessions?": () => slow.promise,
    "GET /v1/models": () => ({ data: [] }),
  });
  const house = new House(ME);
  stop = house.open();
  await settled();
  Published.last?.publish("session.deleted", "two");
  slow.answer(listed("one", "two"));
  await settled();
  expect([...house.now.sessions.keys()]).toEqual(["one"]);
});

it("what is read when the events begin replaces what was being read", async () => {
  const first = later<unknown>();
  const answers: unknown[] = [first.promise, listed("one", "two")];
  const asked = answering({
    "GET /org/projects": () => ({ data: [], next_cursor: null }),
    "GET /v1/sessions?": () => answers.shift(),
    "GET /v1/models": () => ({ data: [] }),
  });
  const house = new House(ME);
  stop = house.open();
  await settled();
  Published.last?.publish("ready");
  await settled();
  first.answer(listed("one"));
  await settled();
  expect([...house.now.sessions.keys()]).toEqual(["one", "two"]);
  expect(asked.filter((line) => line.startsWith("GET /v1/sessions?"))).toHaveLength(2);
});

it("after a restart the server is asked for its models again, until it answers", async () => {
  const answers: unknown[] = [{ data: [{ id: "recall-only", kind: "chat" }] }, null, { data: [{ id: "fake", kind: "chat" }] }];
  answering({
    "GET /org/projects": () => ({ data: [], next_cursor: null }),
    "GET /v1/sessions?": () => listed(),
    "GET /v1/models": () => {
      const answer = answers.shift();
      if (answer === null) throw new TypeError("connection refused");
      return answer;
    },
  });
  const house = new House(ME);
  stop = house.open();
  await settled();
  expect(house.hasModel).toBe(false);
  vi.useFakeTimers();
  Published.last?.publish("ready");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(house.now.models).toEqual(["fake"]);
});
