/** What there is: projects and their conversations, kept as the server tells of them. */

import { createContext, useContext, useSyncExternalStore } from "react";

import { all, get, pages, remove, removeWhileLeaving, sentence, sessionPath, Refusal } from "./api/client";
import { events, type HouseEvent } from "./api/events";
import { listModels } from "./api/organisation";
import { changeSession, createSession, type SessionChange } from "./api/sessions";
import type { Forgotten, Project, Session, SignedIn } from "./api/shapes";

/** What is listed where no model is connected. */
export const RECALL_ONLY = "recall-only";
const UNDO_SECONDS = 7;
const MOST_SESSIONS = 10_000;
const SOON = 120;

export interface Pending {
  session: Session;
  until: number;
}

export interface HouseState {
  projects: readonly Project[];
  sessions: ReadonlyMap<string, Session>;
  /** Deleted here, and not yet there: it can be undone. */
  leaving: ReadonlyMap<string, Pending>;
  turns: ReadonlySet<string>;
  /** What the model's endpoint lists, the default first; null until it was asked. */
  models: readonly string[] | null;
  loaded: boolean;
  problem: string | null;
}

export class House {
  private state: HouseState = {
    projects: [],
    sessions: new Map(),
    leaving: new Map(),
    turns: new Set(),
    models: null,
    loaded: false,
    problem: null,
  };
  private readonly watchers = new Set<() => void>();
  private readonly stale = new Set<string>();
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  private soon: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly me: SignedIn) {}

  get now(): HouseState {
    return this.state;
  }

  get isAdmin(): boolean {
    return this.me.permissions.includes("admin");
  }

  get mayWrite(): boolean {
    return this.isAdmin || this.me.permissions.includes("write");
  }

  /** Whether a model is known to be connected: without one, what is remembered is quoted. */
  get hasModel(): boolean {
    return this.state.models?.some((each) => each !== RECALL_ONLY) ?? false;
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Reads all there is and follows it, until the end that this gives is called. */
  open(): () => void {
    const stop = events.listen((event) => this.hear(event));
    const leave = () => this.finishLeaving();
    addEventListener("pagehide", leave);
    void this.readAll();
    void this.readModels();
    return () => {
      removeEventListener("pagehide", leave);
      stop();
    };
  }

  async readAll(): Promise<void> {
    try {
      const projects = all<Project>("/org/projects");
      // If the conversations cannot be read, nobody waits for the projects: they must not fail unheard.
      projects.catch(() => undefined);
      const sessions = new Map<string, Session>();
      // The newest are shown as soon as they are there; the others follow.
      for await (const page of pages<Session>("/v1/sessions", MOST_SESSIONS)) {
        for (const each of page) sessions.set(each.external_id, each);
        if (!this.state.loaded) this.become({ projects: await projects, sessions: new Map(sessions), loaded: true, problem: null });
      }
      this.become({ projects: await projects, sessions, loaded: true, problem: null });
    } catch (error) {
      this.become({ problem: sentence(error) });
    }
  }

  async readProjects(): Promise<void> {
    this.become({ projects: await all<Project>("/org/projects") });
  }

  /** Asked once: it may take the model's endpoint a while. */
  private async readModels(): Promise<void> {
    try {
      this.become({ models: await listModels() });
    } catch {
      // The picker shows the default then.
    }
  }

  async readSession(id: string): Promise<void> {
    try {
      this.put(await get<Session>(sessionPath(id)));
    } catch (error) {
      if (error instanceof Refusal && error.code === "not_found") this.drop(id);
    }
  }

  /** Create a conversation before anything is said in it. */
  async create(id: string, fields: SessionChange): Promise<Session> {
    const session = await createSession({ external_id: id, ...fields });
    this.put(session);
    return session;
  }

  /** Change fields of a conversation; a move changes what projects have, so they are read again. */
  async change(id: string, change: SessionChange): Promise<Session> {
    const session = await changeSession(id, change);
    this.put(session);
    if (change.project_id !== undefined) await this.readProjects();
    return session;
  }

  /** Out of sight now, and forgotten when nobody has undone it in time. */
  forget(session: Session, done: (outcome: Forgotten | Error) => void): void {
    const id = session.external_id;
    const leaving = new Map(this.state.leaving).set(id, { session, until: Date.now() + UNDO_SECONDS * 1_000 });
    this.become({ leaving });
    const act = async () => {
      this.timers.delete(id);
      try {
        const gone = await remove<Forgotten>(sessionPath(id));
        this.drop(id);
        done(gone);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
      this.undo(id);
    };
    this.timers.set(id, setTimeout(() => void act(), UNDO_SECONDS * 1_000));
  }

  undo(id: string): void {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    const leaving = new Map(this.state.leaving);
    leaving.delete(id);
    this.become({ leaving });
  }

  private finishLeaving(): void {
    for (const [id, timer] of this.timers) {
      clearTimeout(timer);
      removeWhileLeaving(sessionPath(id));
    }
    this.timers.clear();
  }

  private hear(event: HouseEvent): void {
    if (event.type === "reset") {
      this.become({ turns: new Set() });
      void this.readAll();
      return;
    }
    const turns = new Set(this.state.turns);
    if (event.type === "turn.started") turns.add(event.session_id);
    if (event.type === "turn.finished" || event.type === "session.deleted") turns.delete(event.session_id);
    this.become({ turns });
    if (event.type === "session.deleted") this.drop(event.session_id);
    else this.readSoon(event.session_id);
  }

  /** A burst of events about one session is one reading. */
  private readSoon(id: string): void {
    this.stale.add(id);
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      const ids = [...this.stale];
      this.stale.clear();
      for (const each of ids) void this.readSession(each);
    }, SOON);
  }

  private put(session: Session): void {
    this.become({ sessions: new Map(this.state.sessions).set(session.external_id, session) });
  }

  private drop(id: string): void {
    const sessions = new Map(this.state.sessions);
    sessions.delete(id);
    this.become({ sessions });
  }

  private become(change: Partial<HouseState>): void {
    this.state = { ...this.state, ...change };
    this.watchers.forEach((watcher) => watcher());
  }
}

export const HouseContext = createContext<House | null>(null);

export function useHouse(): House {
  const house = useContext(HouseContext);
  if (!house) throw new Error("Nobody is signed in here.");
  return house;
}

export function useHouseState(): HouseState {
  const house = useHouse();
  return useSyncExternalStore(house.watch, () => house.now);
}
