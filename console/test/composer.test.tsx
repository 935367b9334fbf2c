import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Composer } from "../src/chat/composer/composer";
import { drafts } from "../src/chat/composer/drafts";
import * as images from "../src/chat/composer/images";
import { Editor } from "../src/chat/message/editor";
import { later, settled } from "./server";

vi.mock(import("../src/chat/composer/images"), { spy: true });

afterEach(cleanup);
afterEach(() => drafts.put("one", ""));

function shown(given: Partial<Parameters<typeof Composer>[0]> = {}) {
  const acts = { onSend: vi.fn(() => Promise.resolve([])), onStop: vi.fn(), onEditLast: vi.fn() };
  const view = render(<Composer session="one" busy={false} disabled={false} {...acts} {...given} />);
  const field: HTMLTextAreaElement = screen.getByLabelText("Message");
  return { ...acts, field, view };
}

describe("the composer", () => {
  it("sends with Enter, trimmed, and is empty again", () => {
    const { field, onSend } = shown();
    fireEvent.change(field, { target: { value: "  hello " } });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(onSend).toHaveBeenCalledExactlyOnceWith("hello", []);
    expect(field.value).toBe("");
  });

  it("sends nothing that is empty, with Shift, while words are composed, or while a reply comes", () => {
    const { field, onSend, view, onStop, onEditLast } = shown();
    fireEvent.keyDown(field, { key: "Enter" });
    fireEvent.change(field, { target: { value: "hello" } });
    fireEvent.keyDown(field, { key: "Enter", shiftKey: true });
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    view.rerender(<Composer session="one" busy disabled={false} onSend={onSend} onStop={onStop} onEditLast={onEditLast} />);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(onSend).not.toHaveBeenCalled();
    fireEvent.keyDown(field, { key: "Escape" });
    expect(onStop).toHaveBeenCalledOnce();
  });

  it("shows what comes back, and keeps what is typed when it is shown again", () => {
    const { field, view } = shown();
    act(() => {
      drafts.sending("one", { words: "lost words", stored: "lost words", after: null });
      drafts.giveBack("one");
    });
    expect(field.value).toBe("lost words");
    fireEvent.change(field, { target: { value: "found words" } });
    view.unmount();
    expect(shown().field.value).toBe("found words");
  });

  it("takes no more images than a message may have, also of two pastes at once", async () => {
    const reading = later<undefined>();
    vi.mocked(images.readImage).mockImplementation((file) => reading.promise.then(() => ({ name: file.name, mediaType: "image/jpeg", url: "data:" })));
    const { field } = shown({ takesImages: true });
    for (const paste of ["a", "b"]) {
      const files = [1, 2, 3].map((number) => new File(["x"], `${paste}${number}.png`, { type: "image/png" }));
      fireEvent.paste(field, { clipboardData: { files, types: ["Files"] } });
    }
    reading.answer(undefined);
    await act(settled);
    expect(screen.getAllByRole("button", { name: /^Remove/ })).toHaveLength(images.MOST_IMAGES);
    fireEvent.click(screen.getByRole("button", { name: "Remove a1.png" }));
    fireEvent.paste(field, { clipboardData: { files: [new File(["x"], "c.png", { type: "image/png" })], types: ["Files"] } });
    await act(settled);
    expect(screen.getByRole("button", { name: "Remove c.png" })).toBeTruthy();
  });

  it("edits what was said last with the up arrow, when it is empty", () => {
    const { field, onEditLast } = shown();
    fireEvent.keyDown(field, { key: "ArrowUp" });
    fireEvent.change(field, { target: { value: "x" } });
    fireEvent.keyDown(field, { key: "ArrowUp" });
    expect(onEditLast).toHaveBeenCalledOnce();
  });
});

it("the editor of a message with images says that they are not sent again", () => {
  const editor = (words: string) => render(<Editor words={words} onCancel={vi.fn()} onSend={vi.fn()} />);
  const plain = editor("What is this?");
  expect(screen.queryByText(/Images are not kept/)).toBeNull();
  plain.unmount();
  editor("What is this?\n[image: boat.png]");
  expect(screen.getByText(/Images are not kept/)).toBeTruthy();
});
