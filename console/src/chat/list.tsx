/**
 * The messages of a conversation. Its end is drawn at once and what came before while the page is idle, so that a long conversation opens
 * quickly and the browser's own search still finds all of it: what is out of sight is in the page, but costs no layout.
 */

import { startTransition, useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";

import { Icon } from "../parts/icon";
import type { TalkState } from "./talk/state";
import type { Talk } from "./talk/talk";
import type { Said } from "./talk/said";

const AT_FIRST = 24;
const AT_ONCE = 8;
const NEAR_THE_END = 120;
/** Older messages are loaded without being asked for up to this many; more when the reader gets there. */
const LOADED_BY_ITSELF = 2_000;

interface Props {
  talk: Talk;
  state: TalkState;
  /** The message to be shown, instead of the end. */
  anchor: string | null;
  /** Raised whenever an address is gone to, also one that is shown already. */
  arrival: number;
  /** Raised whenever the end is to be shown, wherever the reader is. */
  toEnd: number;
  before: ReactNode;
  after: ReactNode;
  children: (message: Said) => ReactNode;
}

export function MessageList({ talk, state, anchor, arrival, toEnd, before, after, children }: Props) {
  const { list, content, isAway, scrollToEnd } = useStickyEnd(anchor === null);
  const first = useFirstDrawn(talk, state, anchor, list);
  useAnchor(list, state.messages, anchor, arrival);

  useEffect(() => {
    if (toEnd > 0) scrollToEnd();
  }, [toEnd, scrollToEnd]);

  const jump = async () => {
    await talk.toEnd();
    scrollToEnd();
  };
  return (
    <div className="messages-frame">
      <div className="messages" ref={list} tabIndex={-1}>
        <div className="messages-content" ref={content}>
          {before}
          {(first > 0 || state.hasOlder) && <p className="hint loading-older" role="status">Loading older messages…</p>}
          {state.messages.slice(first).map(children)}
          {after}
        </div>
      </div>
      {(isAway || state.hasNewer) && state.messages.length > 0 && (
        <button type="button" className="to-end" onClick={() => void jump()}>
          <Icon name="down" />
          Jump to latest
        </button>
      )}
    </div>
  );
}

/** The position of the first message that is drawn: it moves towards the beginning while the page is idle. */
function useFirstDrawn(talk: Talk, { messages, hasOlder, hasNewer, busy }: TalkState, anchor: string | null, list: React.RefObject<HTMLDivElement | null>): number {
  const [firstKey, setFirstKey] = useState<string | null>(null);
  const known = firstKey === null ? -1 : messages.findIndex((message) => message.key === firstKey);
  const target = anchor === null ? -1 : messages.findIndex((message) => message.id === anchor);
  const atFirst = Math.max(0, (target >= 0 ? Math.min(target, messages.length - AT_FIRST) : messages.length) - (target >= 0 ? AT_ONCE : AT_FIRST));
  const first = known < 0 ? atFirst : target >= 0 ? Math.min(known, target) : known;
  const next = messages[Math.max(0, first - AT_ONCE)]?.key ?? null;
  const isAll = first === 0;

  useEffect(() => {
    if (messages.length === 0) return;
    const work = () => {
      keepOffTop(list.current);
      if (!isAll) startTransition(() => setFirstKey(next));
      else if (hasOlder && !busy && messages.length < LOADED_BY_ITSELF) void talk.loadOlder().catch(() => undefined);
      else if (hasNewer && !busy) void talk.loadNewer().catch(() => undefined);
    };
    return whenIdle(work);
  }, [talk, messages, isAll, next, hasOlder, hasNewer, busy, list]);

  useEffect(() => {
    const shown = list.current;
    if (!shown || !hasOlder || !isAll) return;
    const look = () => {
      if (shown.scrollTop < shown.clientHeight && !busy) void talk.loadOlder().catch(() => undefined);
    };
    shown.addEventListener("scroll", look, { passive: true });
    return () => shown.removeEventListener("scroll", look);
  }, [talk, hasOlder, isAll, busy, list]);
  return first;
}

/** Browsers keep what is in sight where it is when something is put before it, except at the very top. */
function keepOffTop(list: HTMLElement | null): void {
  if (list && list.scrollTop === 0 && list.scrollHeight > list.clientHeight) list.scrollTo({ top: 1 });
}

function whenIdle(work: () => void): () => void {
  if (typeof requestIdleCallback !== "function") {
    const timer = setTimeout(work, 30);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work, { timeout: 500 });
  return () => cancelIdleCallback(handle);
}

/** Keeps the end in sight while it grows, unless the reader has gone up to read. */
function useStickyEnd(startsAtEnd: boolean) {
  const list = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stays = useRef(startsAtEnd);
  const [isAway, setAway] = useState(false);
  const scrollToEnd = useCallback(() => {
    stays.current = true;
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, []);
  useLayoutEffect(() => {
    const [shown, inside] = [list.current, content.current];
    if (!shown || !inside) return;
    let height = 0;
    const look = () => {
      // What grew since is no movement of the reader.
      if (shown.scrollHeight !== height) return;
      stays.current = shown.scrollHeight - shown.scrollTop - shown.clientHeight < NEAR_THE_END;
      setAway(!stays.current);
    };
    const grow = () => {
      height = shown.scrollHeight;
      if (stays.current) shown.scrollTo({ top: height });
      setAway(shown.scrollHeight - shown.scrollTop - shown.clientHeight >= NEAR_THE_END);
    };
    const observer = new ResizeObserver(grow);
    observer.observe(inside);
    observer.observe(shown);
    shown.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      shown.removeEventListener("scroll", look);
    };
  }, []);
  return { list, content, isAway, scrollToEnd };
}

/** Brings the message that the address names into sight, once for each time it is named. */
function useAnchor(list: React.RefObject<HTMLDivElement | null>, messages: readonly Said[], anchor: string | null, arrival: number): void {
  const done = useRef<string | null>(null);
  const time = `${anchor ?? ""} ${arrival}`;
  const isThere = anchor !== null && messages.some((message) => message.id === anchor);
  useEffect(() => {
    if (anchor === null) done.current = null;
    if (!isThere || done.current === time) return;
    done.current = time;
    const show = () => list.current?.querySelector(`#${CSS.escape(anchor)}`)?.scrollIntoView({ block: "center" });
    show();
    // Marked again, if it was marked before.
    for (const animation of list.current?.querySelector(`#${CSS.escape(anchor)}`)?.getAnimations() ?? []) animation.currentTime = 0;
    // What is drawn only now has another height than was thought.
    const frame = requestAnimationFrame(() => requestAnimationFrame(show));
    return () => cancelAnimationFrame(frame);
  }, [list, isThere, anchor, time]);
}
