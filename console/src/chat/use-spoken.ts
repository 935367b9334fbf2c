import { useEffect, useState } from "react";

import type { TalkState } from "./talk/state";

/** What a screen reader is told of a reply: that it is being written, and then its words, as they are shown and not as they were marked up. */
export function useSpoken({ messages, busy, fresh }: TalkState): string {
  const [spoken, setSpoken] = useState({ key: "", words: "" });
  const last = messages.at(-1);
  const key = !busy && last?.role === "assistant" && fresh.has(last.key) ? last.key : null;
  useEffect(() => {
    if (key === null) return;
    const frame = requestAnimationFrame(() => setSpoken({ key, words: textOf(document.querySelector(`[data-key="${key}"] .words`)) }));
    return () => cancelAnimationFrame(frame);
  }, [key]);
  return busy ? "A reply is being written." : key === null || key !== spoken.key ? "" : `Reply: ${spoken.words}`;
}

/** The words of an element, without what is hidden from screen readers, and without buttons. */
function textOf(element: Element | null): string {
  if (!element) return "";
  const copy = element.cloneNode(true) as Element;
  copy.querySelectorAll("[aria-hidden=true], button, annotation").forEach((each) => each.remove());
  copy.querySelectorAll("p, li, td, th, h1, h2, h3, h4, pre, blockquote, header").forEach((each) => each.append(" "));
  return copy.textContent.replaceAll(/\s+/g, " ").trim();
}
