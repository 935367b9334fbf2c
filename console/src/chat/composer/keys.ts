import type { KeyboardEvent } from "react";

/** Whether there is a keyboard with a Shift key at hand: on a touch screen Enter must begin a line, since nothing else could. */
export function isTouch(): boolean {
  return matchMedia("(pointer: coarse)").matches;
}

/** Whether a key sends what was typed: Enter, but on a touch screen only with Ctrl or Cmd. */
export function sendsWithEnter(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return false;
  return !isTouch() || event.ctrlKey || event.metaKey;
}
