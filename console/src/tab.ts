/**
 * This tab: which session it holds, and which other tabs hold. Only ids are kept, in `sessionStorage`, which belongs to one tab, is
 * copied when a tab is duplicated, and ends with it. What was said is kept by the server alone.
 */

import { useSyncExternalStore } from "react";

const SESSION = "cloister.session";
const PLACE = "cloister.place";
const CHANNEL = "cloister.tabs";
const SHARED = "none";

/** The place of a new conversation: a project, or the shared pool as null. Undefined: nobody has chosen yet. */
export type Place = string | null | undefined;

interface Held {
  session: string;
  place: Place;
  /** Counts the times that another session was taken: what was begun before is over. */
  turn: number;
}

interface Word {
  tab: string;
  session: string | null;
  ask?: true;
}

function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

class Tab {
  // Not in the storage: a duplicated tab is another tab.
  private readonly id = randomId();
  private held: Held;
  private others: ReadonlyMap<string, string> = new Map();
  private readonly watchers = new Set<() => void>();
  private readonly channel = new BroadcastChannel(CHANNEL);

  constructor() {
    const asked = new URLSearchParams(location.search).get("session");
    if (asked) history.replaceState(null, "", location.pathname);
    const kept = asked ?? sessionStorage.getItem(SESSION) ?? newSessionId();
    const place = sessionStorage.getItem(PLACE);
    this.held = { session: kept, place: place === null ? undefined : place === SHARED ? null : place, turn: 0 };
    sessionStorage.setItem(SESSION, kept);
    this.channel.addEventListener("message", (event: MessageEvent<Word>) => this.hear(event.data));
    addEventListener("pagehide", () => this.say({ tab: this.id, session: null }));
    addEventListener("pageshow", () => this.say({ tab: this.id, session: this.held.session }));
    this.say({ tab: this.id, session: kept, ask: true });
  }

  get now(): Held {
    return this.held;
  }

  get sessionsElsewhere(): ReadonlyMap<string, string> {
    return this.others;
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Make a session this tab's own, and no other tab's. */
  open(session: string): void {
    this.take({ session, place: this.held.place, turn: this.held.turn + 1 });
  }

  /** A new session: it comes to be with its first message, in this place. */
  begin(place: Place = this.held.place): void {
    this.take({ session: newSessionId(), place, turn: this.held.turn + 1 });
  }

  choose(place: Place): void {
    this.take({ ...this.held, place });
  }

  private take(held: Held): void {
    this.held = held;
    sessionStorage.setItem(SESSION, held.session);
    if (held.place !== undefined) sessionStorage.setItem(PLACE, held.place ?? SHARED);
    this.say({ tab: this.id, session: held.session });
    this.tell();
  }

  private hear(word: Word): void {
    const others = new Map(this.others);
    if (word.session === null) others.delete(word.tab);
    else others.set(word.tab, word.session);
    this.others = others;
    if (word.ask) this.say({ tab: this.id, session: this.held.session });
    this.tell();
  }

  private say(word: Word): void {
    this.channel.postMessage(word);
  }

  private tell(): void {
    this.watchers.forEach((watcher) => watcher());
  }
}

export function newSessionId(): string {
  return `chat-${randomId()}`;
}

export const tab = new Tab();

export function useTab(): Held {
  return useSyncExternalStore(tab.watch, () => tab.now);
}

export function useSessionsElsewhere(): ReadonlyMap<string, string> {
  return useSyncExternalStore(tab.watch, () => tab.sessionsElsewhere);
}
