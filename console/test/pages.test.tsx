import { act, cleanup, fireEvent, render, renderHook, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Session, SignedIn } from "../src/api/shapes";
import { MemoriesPart } from "../src/home/memories-part";
import { House, HouseContext, type HouseState } from "../src/house";
import { useExtraction } from "../src/memory/use-extraction";
import { UserPart } from "../src/memory/user-part";
import { Toasts } from "../src/parts/toasts";
import { archiveWithUndo } from "../src/session/archive";
import { answering, later, Refused, settled } from "./server";

const ME: SignedIn = { tenant_id: "t", key_id: "k", name: "me", permissions: ["read", "write", "admin"], project_id: null, confined: false, user_id: null };

class NoEvents {
  addEventListener(): void {
    /* Nothing is ever published here. */
  }
  close(): void {
    /* Nor is anything to be closed. */
  }
}

beforeEach(() => vi.stubGlobal("EventSource", NoEvents));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function session(id: string, fields: Partial<Session> = {}): Session {
  return { external_id: id, title: id, project_id: "garden", user_id: null, archived: false, memory_job_pending: false, last_extraction_error: null, ...fields } as Session;
}

/** A house in which these conversations were listed. */
async function houseWith(...sessions: Session[]): Promise<House> {
  const answers = {
    "GET /org/projects": () => ({ data: [], next_cursor: null }),
    "GET /v1/sessions?": () => ({ data: sessions, next_cursor: null }),
  };
  answering(answers);
  const house = new House(ME);
  await house.readAll();
  return house;
}

function within(house: House): ({ children }: { children: ReactNode }) => ReactNode {
  return function Within({ children }) {
    return <HouseContext value={house}>{children}</HouseContext>;
  };
}

describe("an extraction", () => {
  it("that failed is not shown any more when the server has made up for it", async () => {
    const house = await houseWith(session("one"));
    let now = session("one");
    answering({ "POST /v1/sessions/one/extract": () => new Refused(502, "tired"), "GET /v1/sessions/one": () => now });
    const { result, rerender } = renderHook(({ of }) => useExtraction(of, vi.fn()), { wrapper: within(house), initialProps: { of: now } });
    await act(() => result.current.start());
    expect(result.current.failure).toContain("tired");
    now = session("one", { memory_job_pending: true });
    rerender({ of: now });
    expect(result.current.failure).toContain("tired");
    now = session("one");
    rerender({ of: now });
    expect(result.current.failure).toBeNull();
  });

  it("that ends does not end the progress of another conversation", async () => {
    const house = await houseWith(session("one"), session("two"));
    const [first, second] = [later<unknown>(), later<unknown>()];
    answering({
      "POST /v1/sessions/one/extract": () => first.promise,
      "POST /v1/sessions/two/extract": () => second.promise,
      "GET /v1/sessions/": () => session("one"),
    });
    const { result, rerender } = renderHook(({ of }) => useExtraction(of, vi.fn()), { wrapper: within(house), initialProps: { of: session("one") } });
    await act(async () => {
      void result.current.start();
      await settled();
    });
    rerender({ of: session("two") });
    await act(async () => {
      void result.current.start();
      await settled();
    });
    first.answer({ appended: 0, checked_messages: 0 });
    await act(settled);
    expect(result.current.isBusy).toBe(true);
    second.answer({ appended: 0, checked_messages: 0 });
    await act(settled);
    expect(result.current.isBusy).toBe(false);
  });
});

it("undoing an archiving leaves in the archive what was there before", async () => {
  const [before, now] = [session("before", { archived: true }), session("now")];
  const house = await houseWith(before, now);
  const asked = answering({ "PATCH /v1/sessions/now": ({ body }) => session("now", body as Partial<Session>) });
  render(<Toasts />);
  await act(() => archiveWithUndo(house, [before, now], true));
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  await act(settled);
  expect(asked).toEqual(["PATCH /v1/sessions/now", "PATCH /v1/sessions/now"]);
  await act(() => archiveWithUndo(house, [before], true));
  expect(screen.getByText("Archived already.")).toBeTruthy();
});

it("a failed extraction is told of to those who look at its user, unless it is being deleted", async () => {
  const failed = session("one", { user_id: "anna", last_extraction_error: "Out of tea." });
  const house = await houseWith(failed);
  answering({ "GET /v1/memories": () => ({ data: [], next_cursor: null }) });
  const alerts = async (user: string | null, whose: ReactNode) => {
    const view = render(<MemoriesPart project="garden" user={user} whose={whose} hint="" />, { wrapper: within(house) });
    await act(settled);
    const shown = screen.queryAllByRole("alert").length;
    view.unmount();
    return shown;
  };
  const choice = <span>anna</span>;
  expect([await alerts("anna", choice), await alerts("bert", choice), await alerts(null, choice), await alerts(null, null)]).toEqual([1, 0, 0, 1]);
  const leaving: HouseState["leaving"] = new Map([["one", { session: failed, until: 0 }]]);
  vi.spyOn(house, "now", "get").mockReturnValue({ ...house.now, leaving });
  expect(await alerts("anna", choice)).toBe(0);
});

it("that nobody in particular is talking is said only where there are no users", async () => {
  const house = await houseWith(session("one", { user_id: "anna" }));
  answering({ "GET /": () => ({ data: [], next_cursor: null }) });
  render(<UserPart />, { wrapper: within(house) });
  fireEvent.change(screen.getByLabelText("User"), { target: { value: "" } });
  await act(settled);
  expect(screen.getByText("Choose a user.")).toBeTruthy();
  expect(screen.queryByText(/belong to nobody/)).toBeNull();
});
