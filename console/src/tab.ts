/**
 * This tab: which session it shows, and which ones other tabs show. The address names the session once something was said in it. Only
 * ids are stored, in `sessionStorage`, which belongs to one tab, is copied when a tab is duplicated, and ends with it.
 */

import { useSyncExternalStore } from "react";

import { chatAddress, currentEntry, go, onNavigation, readRoute, replaceAddress } from "./router";

const SESSION = "cloister.session";
const PROJECT = "cloister.place";
const CHANNEL = "cloister.tabs";
const NONE = "none";
/** A tab that ends without saying so (its process was killed) has released its lock; the others look this often. */
const LOOK_EVERY = 5_000;

/** The project of a new conversation, or none as null. Undefined: nobody has chosen yet. */
export type Place = string | null | undefined;

interface Shown {
  session: string;
  place: Place;
  /** Counts the times that another session was opened: what was begun before is over. */
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

const lockName = (id: string) => `${CHANNEL}.${id}`;

class Tab {
  // Not in the storage: a duplicated tab is another tab.
  private readonly id = randomId();
  private shown: Shown;
  private isAddressed: boolean;
  private others: ReadonlyMap<string, string> = new Map();
  private readonly watchers = new Set<() => void>();
  private readonly channel = new BroadcastChannel(CHANNEL);

  constructor() {
    const asked = new URLSearchParams(location.search).get("session");
    if (asked) history.replaceState(null, "", chatAddress(asked));
    this.isAddressed = sessionOfAddress() !== null;
    const session = sessionOfAddress() ?? currentEntry().session ?? sessionStorage.getItem(SESSION) ?? newSessionId();
    const place = sessionStorage.getItem(PROJECT);
    this.shown = { session, place: place === null ? undefined : place === NONE ? null : place, turn: 0 };
    sessionStorage.setItem(SESSION, session);
    // Back leads to this entry again: it must be known which new conversation it was.
    if (location.pathname === "/") history.replaceState({ session }, "");
    onNavigation(() => this.followAddress());
    this.channel.addEventListener("message", (event: MessageEvent<Word>) => this.hear(event.data));
    addEventListener("pagehide", () => this.say({ tab: this.id, session: null }));
    addEventListener("pageshow", () => this.say({ tab: this.id, session: this.shown.session }));
    this.say({ tab: this.id, session, ask: true });
    this.watchOthers();
  }

  get now(): Shown {
    return this.shown;
  }

  get sessionsElsewhere(): ReadonlyMap<string, string> {
    return this.others;
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Show a session in this tab, and in no other; at one of its messages if one is named. */
  open(session: string, message?: string | null): void {
    go(chatAddress(session, message));
  }

  /** Make a session this tab's own without leaving the page that is shown. */
  select(session: string): void {
    if (session !== this.shown.session) this.take(session, true);
  }

  /** Begin a new session. It is created with its first message, in this project, and has no address before. */
  begin(place: Place = this.shown.place): void {
    this.choose(place);
    go("/", { session: newSessionId() });
  }

  choose(place: Place): void {
    if (place !== undefined) sessionStorage.setItem(PROJECT, place ?? NONE);
    this.shown = { ...this.shown, place };
    this.notify();
  }

  /** Show the session of this tab, wherever the reader is. */
  show(): void {
    go(this.address, this.isAddressed ? {} : { session: this.shown.session });
  }

  /** The address that leads back to the session of this tab. */
  get address(): string {
    return this.isAddressed ? chatAddress(this.shown.session) : "/";
  }

  /** The session of this tab exists now: its address names it, in the same entry of the history. */
  nameInAddress(session: string): void {
    if (session !== this.shown.session) return;
    this.isAddressed = true;
    if (readRoute(location.pathname).page === "chat" && sessionOfAddress() === null) replaceAddress(chatAddress(session));
    else this.notify();
  }

  /** After Back and Forward too, the address says which session this tab shows. */
  private followAddress(): void {
    const route = readRoute(location.pathname);
    if (route.page !== "chat") return;
    const session = route.session ?? currentEntry().session ?? this.shown.session;
    // An entry that does not say which new conversation it is would be another one each time.
    if (route.session === null && currentEntry().session === undefined) history.replaceState({ session }, "");
    if (session !== this.shown.session) this.take(session, route.session !== null);
  }

  private take(session: string, isAddressed: boolean): void {
    this.isAddressed = isAddressed;
    this.shown = { ...this.shown, session, turn: this.shown.turn + 1 };
    sessionStorage.setItem(SESSION, session);
    this.say({ tab: this.id, session });
    this.notify();
  }

  private hear(word: Word): void {
    const others = new Map(this.others);
    if (word.session === null) others.delete(word.tab);
    else others.set(word.tab, word.session);
    this.others = others;
    if (word.ask) this.say({ tab: this.id, session: this.shown.session });
    this.notify();
  }

  /** Each tab has a lock as long as its process lives; a tab whose lock is gone is gone, although it never said so. */
  private watchOthers(): void {
    // Locks are there only where the browser trusts the connection: on this machine, or behind TLS.
    const locks = (navigator as { locks?: LockManager | null }).locks;
    if (!locks) return;
    void locks.request(lockName(this.id), () => new Promise(() => undefined)).catch(() => undefined);
    setInterval(() => {
      if (this.others.size > 0) void this.dropEnded(locks);
    }, LOOK_EVERY);
  }

  private async dropEnded(locks: LockManager): Promise<void> {
    const { held } = await locks.query();
    const alive = new Set(held?.map((lock) => lock.name));
    const others = new Map([...this.others].filter(([id]) => alive.has(lockName(id))));
    if (others.size === this.others.size) return;
    this.others = others;
    this.notify();
  }

  private say(word: Word): void {
    this.channel.postMessage(word);
  }

  private notify(): void {
    this.watchers.forEach((watcher) => watcher());
  }
}

function sessionOfAddress(): string | null {
  const route = readRoute(location.pathname);
  return route.page === "chat" ? route.session : null;
}

export function newSessionId(): string {
  return `chat-${randomId()}`;
}

export const tab = new Tab();

export function useTab(): Shown {
  return useSyncExternalStore(tab.watch, () => tab.now);
}

/** The address that leads back to the session of this tab. */
export function useTabAddress(): string {
  return useSyncExternalStore(tab.watch, () => tab.address);
}

export function useSessionsElsewhere(): ReadonlyMap<string, string> {
  return useSyncExternalStore(tab.watch, () => tab.sessionsElsewhere);
}
