/**
 * What was typed and not sent, by session. It is in this page's memory only, for whoever typed it: it outlives a look at another page and
 * being signed out, and ends with the tab.
 */

import { useSyncExternalStore } from "react";

export class Drafts {
  private readonly texts = new Map<string, string>();
  private readonly watchers = new Set<() => void>();
  private owner: string | null = null;

  /** Whoever else signs in here finds nothing of it. */
  belongTo(owner: string): void {
    if (owner !== this.owner) this.texts.clear();
    this.owner = owner;
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  get any(): boolean {
    return this.texts.size > 0;
  }

  of(session: string): string {
    return this.texts.get(session) ?? "";
  }

  put(session: string, text: string): void {
    if (text) this.texts.set(session, text);
    else this.texts.delete(session);
    this.watchers.forEach((watcher) => watcher());
  }

  /** Words that were not kept come back, before what was typed since. */
  giveBack(session: string, words: string): void {
    const since = this.of(session);
    this.put(session, since.trim() ? `${words}\n${since}` : words);
  }

  /** Words that were kept after all go again, unless somebody has changed them; what was typed since stays. */
  takeBack(session: string, words: string): void {
    const now = this.of(session);
    if (now === words) this.put(session, "");
    else if (now.startsWith(`${words}\n`)) this.put(session, now.slice(words.length + 1));
  }
}

export const drafts = new Drafts();

export function useDraft(session: string): [text: string, put: (text: string) => void] {
  const text = useSyncExternalStore(drafts.watch, () => drafts.of(session));
  return [text, (next) => drafts.put(session, next)];
}
