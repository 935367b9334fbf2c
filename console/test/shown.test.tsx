import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Project, SignedIn } from "../src/api/shapes";
import { Composer } from "../src/chat/composer/composer";
import { drafts } from "../src/chat/composer/drafts";
import { reasonOf } from "../src/chat/drawer/recalled";
import { newSaid } from "../src/chat/talk/said";
import { NOTHING_KNOWN } from "../src/chat/talk/state";
import { useSpoken } from "../src/chat/use-spoken";
import { EntitiesPart } from "../src/home/entities-part";
import { House, HouseContext } from "../src/house";
import { usePages } from "../src/parts/use-pages";
import { SearchResults } from "../src/sidebar/search";
import { answering, later, Refused, settled } from "./server";

const ME: SignedIn = { tenant_id: "t", key_id: "k", name: "me", permissions: ["read"], project_id: null, confined: false, user_id: null };

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
  drafts.put("one", "");
  vi.unstubAllGlobals();
});

function composer() {
  const onSend = vi.fn(() => Promise.resolve([]));
  render(<Composer session="one" busy={false} disabled={false} onSend={onSend} onStop={vi.fn()} onEditLast={vi.fn()} />);
  const field: HTMLTextAreaElement = screen.getByLabelText("Message");
  return { field, onSend };
}

describe("what is pasted", () => {
  it("as words stays words, although a picture of them comes along", () => {
    const { field } = composer();
    const file = new File([new Uint8Array(4)], "image.png", { type: "image/png" });
    expect(fireEvent.paste(field, { clipboardData: { files: [file], types: ["text/plain", "text/html", "Files"] } }), "the browser pastes").toBe(true);
    expect(fireEvent.paste(field, { clipboardData: { files: [new File(["4417"], "notes.txt", { type: "text/plain" })], types: ["Files"] } })).toBe(false);
  });

  it("is never cut: what is too long says so, and is not sent", () => {
    const { field, onSend } = composer();
    expect(field.maxLength).toBe(-1);
    fireEvent.change(field, { target: { value: "x".repeat(65_539) } });
    expect(screen.getByRole("alert").textContent).toContain("3 characters too long");
    fireEvent.keyDown(field, { key: "Enter" });
    expect(onSend).not.toHaveBeenCalled();
  });
});

describe("the live region", () => {
  it("does not repeat the reply before", async () => {
    const heard: string[] = [];
    function Heard({ replies, busy }: { replies: string[]; busy: boolean }) {
      const messages = replies.map((text, at) => newSaid(`r${at}`, "assistant", text, "completed"));
      heard.push(useSpoken({ ...NOTHING_KNOWN, messages, busy, fresh: new Set(messages.map((each) => each.key)) }));
      return messages.map((each) => <div key={each.key} data-key={each.key}><p className="words">{each.text}</p></div>);
    }
    const frame = () => act(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    const view = render(<Heard replies={["First."]} busy={false} />);
    await frame();
    view.rerender(<Heard replies={["First."]} busy />);
    heard.length = 0;
    view.rerender(<Heard replies={["First.", "Second."]} busy={false} />);
    await frame();
    expect(heard.at(-1)).toBe("Reply: Second.");
    expect(heard.filter((words) => words.includes("First"))).toEqual([]);
  });
});

describe("a search", () => {
  it("that failed does not say that nothing was found", async () => {
    answering({ "POST /v1/search": () => new Refused(503, "The index is being rebuilt.") });
    render(<HouseContext value={new House(ME)}><SearchResults query="gate" onOpen={vi.fn()} /></HouseContext>);
    await act(() => new Promise((resolve) => setTimeout(resolve, 300)));
    expect(screen.getByRole("alert").textContent).toBe("The search failed: The index is being rebuilt.");
    expect(screen.queryByText("Nothing found.")).toBeNull();
  });

  it("of a list shows what was found before until more is known, and nothing of another list", async () => {
    const slow = later<unknown>();
    answering({
      "GET /list?query=b": () => slow.promise,
      "GET /list": () => ({ data: ["apple", "bean"], next_cursor: null }),
      "GET /other": () => slow.promise,
    });
    function Listed({ path, whole }: { path: string; whole: string }) {
      return <p data-testid="list">{usePages<string>(path, whole).items?.join(", ") ?? "none"}</p>;
    }
    const view = render(<Listed path="/list" whole="/list" />);
    await act(settled);
    const list = () => screen.getByTestId("list").textContent;
    expect(list()).toBe("apple, bean");
    view.rerender(<Listed path="/list?query=b" whole="/list" />);
    expect(list()).toBe("apple, bean");
    view.rerender(<Listed path="/other" whole="/other" />);
    expect(list()).toBe("none");
    slow.answer({ data: ["bean"], next_cursor: null });
    await act(settled);
  });
});

it("a long list of entities says how many more there are", async () => {
  const entities = Array.from({ length: 305 }, (_, at) => ({ id: `ent_${at}`, name: `Name ${at}`, type: "person", notes: "" }));
  answering({
    "GET /v1/entities/": () => ({ ...entities[0], aliases: [], relations: [], mentions: [] }),
    "GET /v1/entities?": () => ({ data: entities, next_cursor: null }),
  });
  const garden: Project = { project_id: "proj_1", name: "Garden", is_default: true, member_visibility: "private", memory_count: 0, settings: {}, warnings: [], created_at: "2026-05-02T09:30:00Z" };
  render(<HouseContext value={new House(ME)}><EntitiesPart project={garden} user={null} whose={null} /></HouseContext>);
  await act(settled);
  fireEvent.click(screen.getByText("5 more"));
  expect(screen.getByText("Name 304")).toBeTruthy();
});

it("of items that cannot be read any more no origin is given", () => {
  expect(reasonOf({ given: 2, items: [] }, "one", "in Garden", "Garden")).toBeNull();
  expect(reasonOf({ given: 0, items: [] }, "one", "in Garden", "Garden")).toBe("Nothing related was found in Garden.");
});
