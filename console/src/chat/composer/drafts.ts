/**
 * What was typed and not sent, by session. It is stored with the tab, for the key that typed it, so that it outlives a refresh and being
 * signed out; it ends with the tab. What was sent is in it only until the server has stored it.
 */

import { useSyncExternalStore } from "react";

const STORED = "cloister.drafts";

interface Draft {
  text: string;
  /** Sent, and not yet known to be stored. */
  sending?: Sent;
  /** Came back, and may be stored after all: only the answer was lost. */
  returned?: Sent;
}

interface Sent {
  words: string;
  /** The words as the server stores them, with the names of images. */
  stored: string;
  /** The message of the user that was the last one before. */
  after: string | null;
}

interface Stored {
  owner: string | null;
  drafts: Record<string, Draft>;
}

/** What the user said last, as the server stores it. */
interface Last {
  id: string;
  content: string;
}

const EMPTY: Draft = { text: "" };

export class Drafts {
  private readonly drafts: Map<string, Draft>;
  private readonly watchers = new Set<() => void>();
  private owner: string | null;

  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null = null) {
    const stored = read(storage?.getItem(STORED) ?? null);
    this.owner = stored.owner;
    this.drafts = new Map(Object.entries(stored.drafts));
    // A page that was left in the middle of sending does not know what became of it.
    for (const session of [...this.drafts.keys()]) this.giveBack(session);
  }

  /** Another key that signs in here finds nothing of it. */
  belongTo(owner: string): void {
    if (owner !== this.owner) this.drafts.clear();
    this.owner = owner;
    this.changed();
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  get any(): boolean {
    return [...this.drafts.values()].some((draft) => draft.text !== "");
  }

  of(session: string): string {
    return this.draft(session).text;
  }

  put(session: string, text: string): void {
    this.set(session, { ...this.draft(session), text });
  }

  /** These words were not sent after all: they come back, before what was typed since. */
  putBefore(session: string, words: string): void {
    const text = this.of(session);
    this.put(session, text.trim() ? `${words}\n${text}` : words);
  }

  /** These words were taken out of the field and are on their way. */
  sending(session: string, sending: Sent): void {
    this.set(session, { text: this.of(session), sending });
  }

  /** The server has stored what was on its way. */
  sent(session: string): void {
    this.set(session, { text: this.of(session) });
  }

  /** What was on its way was not stored, as far as anybody knows: it comes back, before what was typed since. */
  giveBack(session: string): void {
    const { text, sending } = this.draft(session);
    if (sending === undefined) return;
    this.set(session, { text, returned: sending });
    this.putBefore(session, sending.words);
  }

  /** What the user said last is known, as the server stores it: what came back and is among them goes again, unless somebody has changed it. */
  settle(session: string, last: Last | null): void {
    const { text, returned } = this.draft(session);
    if (returned === undefined) return;
    const { words } = returned;
    if (!isStored(returned, last)) this.set(session, { text });
    else if (text === words) this.set(session, EMPTY);
    else this.set(session, { text: text.startsWith(`${words}\n`) ? text.slice(words.length + 1) : text });
  }

  private draft(session: string): Draft {
    return this.drafts.get(session) ?? EMPTY;
  }

  private set(session: string, draft: Draft): void {
    if (draft.text || draft.sending !== undefined || draft.returned !== undefined) this.drafts.set(session, draft);
    else this.drafts.delete(session);
    this.changed();
  }

  private changed(): void {
    if (this.drafts.size > 0) this.storage?.setItem(STORED, JSON.stringify({ owner: this.owner, drafts: Object.fromEntries(this.drafts) } satisfies Stored));
    else this.storage?.removeItem(STORED);
    this.watchers.forEach((watcher) => watcher());
  }
}

/** Whether what was sent is what the user said last. */
export function isStored({ stored, after }: Sent, last: Last | null): boolean {
  return last !== null && last.id !== after && last.content === stored;
}

function read(text: string | null): Stored {
  if (text === null) return { owner: null, drafts: {} };
  try {
    return JSON.parse(text) as Stored;
  } catch {
    return { owner: null, drafts: {} };
  }
}

export const drafts = new Drafts(sessionStorage);

export function useDraft(session: string): [text: string, put: (text: string) => void] {
  const text = useSyncExternalStore(drafts.watch, () => drafts.of(session));
  return [text, (next) => drafts.put(session, next)];
}
