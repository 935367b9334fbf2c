import { useCallback, useEffect, useState } from "react";

import { get, sentence, withQuery } from "../api/client";
import { events, type HouseEvent } from "../api/events";
import type { Page } from "../api/shapes";

const SOON = 300;
const PAGE = 50;

export interface Paged<T> {
  items: readonly T[] | null;
  hasMore: boolean;
  problem: string | null;
  more: () => void;
  again: () => void;
}

/**
 * A list as far as it was asked for; read again, as far as it is shown, when something was said or remembered. While another path of the
 * same `whole` is read, as when a search is narrowed, the list stays as it was.
 */
export function usePages<T>(path: string, whole = path): Paged<T> {
  const [state, setState] = useState<{ whole: string; items: readonly T[]; hasMore: boolean; problem: string | null } | null>(null);
  const [wanted, setWanted] = useState<{ path: string; pages: number; round: number }>({ path, pages: 1, round: 0 });
  const pages = wanted.path === path ? wanted.pages : 1;
  const round = wanted.round;
  useEffect(() => {
    const control = new AbortController();
    readPages<T>(path, pages, control.signal)
      .then(([items, hasMore]) => setState({ whole, items, hasMore, problem: null }))
      .catch((error: unknown) => {
        if (!control.signal.aborted) setState({ whole, items: [], hasMore: false, problem: sentence(error) });
      });
    return () => control.abort();
  }, [path, whole, pages, round]);
  const again = useCallback(() => setWanted((before) => ({ ...before, round: before.round + 1 })), []);
  useEffect(() => events.listen(soonAfter(again)), [again]);
  const current = state?.whole === whole ? state : null;
  return {
    items: current?.items ?? null,
    hasMore: current?.hasMore ?? false,
    problem: current?.problem ?? null,
    more: () => setWanted({ path, pages: pages + 1, round }),
    again,
  };
}

/** Called once after a burst of events. */
export function soonAfter(act: () => void): (event: HouseEvent) => void {
  let soon: ReturnType<typeof setTimeout> | undefined;
  return (event) => {
    if (event.type === "turn.started") return;
    clearTimeout(soon);
    soon = setTimeout(act, SOON);
  };
}

async function readPages<T>(path: string, pages: number, signal: AbortSignal): Promise<[T[], boolean]> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pages; page += 1) {
    const found: Page<T> = await get(withQuery(path, { limit: String(PAGE), ...(cursor ? { cursor } : {}) }), signal);
    items.push(...found.data);
    cursor = found.next_cursor;
    if (cursor === null) break;
  }
  return [items, cursor !== null];
}
