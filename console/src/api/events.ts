/** What happens on the server, as it happens. It tells ids; whoever cares reads again. */

export interface SessionEvent {
  type: "session.created" | "session.changed" | "session.deleted" | "message.added" | "turn.started" | "turn.finished";
  session_id: string;
  project_id: string | null;
}

/** `reset`: some may have been missed, so read again what is shown. */
export type HouseEvent = SessionEvent | { type: "reset" };
export type Connection = "connecting" | "open" | "lost";

type Listener = (event: HouseEvent) => void;

const KINDS = ["session.created", "session.changed", "session.deleted", "message.added", "turn.started", "turn.finished"];
const AGAIN_AFTER = 2_000;

/** One stream for the whole tab, opened again for as long as somebody listens. */
export class EventStream {
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private source: EventSource | null = null;
  private again: ReturnType<typeof setTimeout> | undefined;
  connection: Connection = "connecting";

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    if (!this.source) this.open();
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
  }

  private open(): void {
    const source = new EventSource("/v1/events");
    this.source = source;
    let opened = false;
    // `ready` opens a stream without a past: whatever happened before it is not told.
    source.addEventListener("ready", () => {
      if (opened || this.connection === "lost") this.tell({ type: "reset" });
      opened = true;
      this.become("open");
    });
    source.addEventListener("open", () => this.become("open"));
    source.addEventListener("reset", () => this.tell({ type: "reset" }));
    for (const kind of KINDS) {
      source.addEventListener(kind, (event: MessageEvent<string>) => this.tell(JSON.parse(event.data) as SessionEvent));
    }
    source.addEventListener("error", () => {
      this.become("lost");
      // A browser gives up after an answer that is no stream; we do not.
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        this.close();
        this.again = setTimeout(() => this.open(), AGAIN_AFTER);
      }
    });
  }

  private become(connection: Connection): void {
    const wasLost = this.connection === "lost";
    if (connection === this.connection) return;
    this.connection = connection;
    this.watchers.forEach((watcher) => watcher());
    if (wasLost && connection === "open") this.tell({ type: "reset" });
  }

  private tell(event: HouseEvent): void {
    this.listeners.forEach((listener) => listener(event));
  }
}

export const events = new EventStream();
