import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Composer } from "../src/chat/composer";

afterEach(cleanup);

function shown(given: Partial<Parameters<typeof Composer>[0]> = {}) {
  const acts = { onSend: vi.fn(), onStop: vi.fn(), onEditLast: vi.fn() };
  const view = render(<Composer busy={false} disabled={false} returned={null} {...acts} {...given} />);
  const field: HTMLTextAreaElement = screen.getByLabelText("Message");
  return { ...acts, field, view };
}

describe("the composer", () => {
  it("sends with Enter, trimmed, and is empty again", () => {
    const { field, onSend } = shown();
    fireEvent.change(field, { target: { value: "  hello " } });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(onSend).toHaveBeenCalledExactlyOnceWith("hello");
    expect(field.value).toBe("");
  });

  it("sends nothing that is empty, with Shift, while words are composed, or while a reply comes", () => {
    const { field, onSend, view, onStop, onEditLast } = shown();
    fireEvent.keyDown(field, { key: "Enter" });
    fireEvent.change(field, { target: { value: "hello" } });
    fireEvent.keyDown(field, { key: "Enter", shiftKey: true });
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    view.rerender(<Composer busy disabled={false} returned={null} onSend={onSend} onStop={onStop} onEditLast={onEditLast} />);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(onSend).not.toHaveBeenCalled();
    fireEvent.keyDown(field, { key: "Escape" });
    expect(onStop).toHaveBeenCalledOnce();
  });

  it("takes back what was not kept, once, before what was typed since", () => {
    const returned = { text: "lost words" };
    const { field, view, onSend, onStop, onEditLast } = shown({ returned });
    expect(field.value).toBe("lost words");
    fireEvent.change(field, { target: { value: "" } });
    view.rerender(<Composer busy={false} disabled={false} returned={returned} onSend={onSend} onStop={onStop} onEditLast={onEditLast} />);
    expect(field.value).toBe("");
    fireEvent.change(field, { target: { value: "more" } });
    view.rerender(<Composer busy={false} disabled={false} returned={{ text: "lost again" }} onSend={onSend} onStop={onStop} onEditLast={onEditLast} />);
    expect(field.value).toBe("lost again\nmore");
  });

  it("edits what was said last with the up arrow, when it is empty", () => {
    const { field, onEditLast } = shown();
    fireEvent.keyDown(field, { key: "ArrowUp" });
    fireEvent.change(field, { target: { value: "x" } });
    fireEvent.keyDown(field, { key: "ArrowUp" });
    expect(onEditLast).toHaveBeenCalledOnce();
  });
});
