/** Where in the console we are. The chat has no session in its address: which one it is belongs to the tab. */

import { useSyncExternalStore, type MouseEvent } from "react";

const watchers = new Set<() => void>();
const tell = () => watchers.forEach((watcher) => watcher());
addEventListener("popstate", tell);

export function go(path: string): void {
  if (path !== location.pathname + location.search) history.pushState(null, "", path);
  tell();
}

export function usePath(): string {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => location.pathname,
  );
}

/** For links: a plain click stays in this page, all others are the browser's. */
export function follow(event: MouseEvent, act: () => void): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  act();
}
