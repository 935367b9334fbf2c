/**
 * What happens on the server, as it happens. It tells ids; whoever cares reads again.
 *
 * A browser has only six connections to one server, for all of its tabs: so one tab listens, and passes on to the others what it hears.
 * When it goes away, another takes its place.
 */

import { checkedFetch } from "./client";

export interface SessionEvent {
  type: "session.created" | "session.changed" | "session.deleted" | "message.added" | "turn.started" | "turn.finished";
  session_id: string;
  project_id: string | null;
}

/** `reset`: some may have been missed, so read again what is shown. */
export type HouseEvent = SessionEvent | { type: "reset" };
export type Connection = "connecting" | "open" | "lost";

type Listener = (event: HouseEvent) => void;
type Word = { event: HouseEvent } | { connection: Connection } | { ask: true };

const KINDS = ["session.created", "session.changed", "session.deleted", "message.added", "turn.started", "turn.finished"];
const NAME = "cloister.events";
const AGAIN_AFTER = 2_000;

export class EventStream {
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private channel: BroadcastChannel | null = null;
  private source: EventSource | null = null;
  private again: ReturnType<typeof setTimeout> | undefined;
  /** Ends this tab's time as the one that listens, or its waiting for it. */
  private leave: () => void = () => undefined;
  connection: Connection = "connecting";

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    if (!this.channel) this.start();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.close();
    };
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  close(): void {
    clearTimeout(this.again);
    this.source?.close();
    this.source = null;
    this.channel?.close();
    this.channel = null;
    this.leave();
  }

  private start(): void {
    const channel = new BroadcastChannel(NAME);
    this.channel = channel;
    channel.addEventListener("message", (message: MessageEvent<Word>) => this.hear(message.data));
    // Locks are there only where the browser trusts the connection: on this machine, or behind TLS.
    const locks = (navigator as { locks?: LockManager | null }).locks;
    if (!locks) {
      this.open();
      return;
    }
    channel.postMessage({ ask: true } satisfies Word);
    const control = new AbortController();
    this.leave = () => control.abort();
    const lead = () =>
      new Promise<void>((resolve) => {
        this.leave = resolve;
        if (this.channel === channel) this.open();
        else resolve();
      });
    locks.request(NAME, { signal: control.signal }, lead).catch(() => undefined);
  }

  private open(): void {
    const source = new EventSource("/v1/events");
    this.source = source;
    // A stream begins with `ready`: what happened before it was not told, neither to this tab nor to the others.
    source.addEventListener("ready", () => this.tell({ type: "reset" }));
    source.addEventListener("reset", () => this.tell({ type: "reset" }));
    source.addEventListener("open", () => this.become("open"));
    for (const kind of KINDS) {
      source.addEventListener(kind, (event: MessageEvent<string>) => this.tell(JSON.parse(event.data) as SessionEvent));
    }
    source.addEventListener("error", () => {
      this.become("lost");
      // A browser gives up after an answer that is no stream; we do not. It may say that nobody is signed in here any more.
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        checkedFetch("/console/session").catch(() => undefined);
        clearTimeout(this.again);
        this.again = setTimeout(() => this.open(), AGAIN_AFTER);
      }
    });
  }

  private hear(word: Word): void {
    if ("event" in word) this.listeners.forEach((listener) => listener(word.event));
    else if ("connection" in word) this.show(word.connection);
    else if (this.source) this.say({ connection: this.connection });
  }

  private become(connection: Connection): void {
    const wasLost = this.connection === "lost";
    this.show(connection);
    this.say({ connection });
    if (wasLost && connection === "open") this.tell({ type: "reset" });
  }

  private show(connection: Connection): void {
    if (connection === this.connection) return;
    this.connection = connection;
    this.watchers.forEach((watcher) => watcher());
  }

  private tell(event: HouseEvent): void {
    this.listeners.forEach((listener) => listener(event));
    this.say({ event });
  }

  private say(word: Word): void {
    this.channel?.postMessage(word);
  }
}

export const events = new EventStream();
