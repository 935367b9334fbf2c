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
const [FIRST_RETRY, LAST_RETRY] = [4_000, 60_000];

/** What was read, or is gone (null), since a reading of all there is began: it is newer than what that finds. */
interface Reading {
  control: AbortController;
  changes: Map<string, Session | null>;
}

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
  /** Those of them that take images. */
  imageModels: ReadonlySet<string>;
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
    imageModels: new Set(),
    loaded: false,
    problem: null,
  };
  private readonly watchers = new Set<() => void>();
  private readonly stale = new Set<string>();
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  private soon: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  /** The reading of all there is that runs, if one does: a later one ends it. */
  private reading: Reading | null = null;

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
      clearTimeout(this.retry);
      removeEventListener("pagehide", leave);
      stop();
    };
  }

  async readAll(): Promise<void> {
    this.reading?.control.abort();
    const reading: Reading = { control: new AbortController(), changes: new Map() };
    const signal = reading.control.signal;
    this.reading = reading;
    try {
      const projects = all<Project>("/org/projects", undefined, signal);
      // If the conversations cannot be read, nobody waits for the projects: they must not fail unheard.
      projects.catch(() => undefined);
      const sessions = new Map<string, Session>();
      const show = (listed: readonly Project[]) => this.become({ projects: listed, sessions: changed(sessions, reading.changes), loaded: true, problem: null });
      // The newest are shown as soon as they are there; the others follow.
      for await (const page of pages<Session>("/v1/sessions", MOST_SESSIONS, signal)) {
        for (const each of page) sessions.set(each.external_id, each);
        if (!this.state.loaded) show(await projects);
      }
      const listed = await projects;
      if (!signal.aborted) show(listed);
    } catch (error) {
      if (!signal.aborted) this.become({ problem: sentence(error) });
    }
    if (this.reading === reading) this.reading = null;
  }

  async readProjects(): Promise<void> {
    this.become({ projects: await all<Project>("/org/projects") });
  }

  /** Asked again after each restart of the server, which may have another model then. It may take the model's endpoint a while. */
  private async readModels(after = FIRST_RETRY): Promise<void> {
    clearTimeout(this.retry);
    try {
      const listed = await listModels();
      this.become({ models: listed.map(({ id }) => id), imageModels: new Set(listed.flatMap(({ id, takes_images }) => (takes_images ? [id] : []))) });
    } catch (error) {
      // A key that may not ask is answered the same way each time.
      if (error instanceof Refusal && error.status < 500 && error.status !== 429) return;
      this.retry = setTimeout(() => void this.readModels(Math.min(2 * after, LAST_RETRY)), after);
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
      void this.readModels();
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
    this.reading?.changes.set(session.external_id, session);
    this.become({ sessions: new Map(this.state.sessions).set(session.external_id, session) });
  }

  private drop(id: string): void {
    this.reading?.changes.set(id, null);
    const sessions = new Map(this.state.sessions);
    sessions.delete(id);
    this.become({ sessions });
  }

  private become(change: Partial<HouseState>): void {
    this.state = { ...this.state, ...change };
    this.watchers.forEach((watcher) => watcher());
  }
}

function changed(sessions: ReadonlyMap<string, Session>, changes: Reading["changes"]): Map<string, Session> {
  const result = new Map(sessions);
  for (const [id, session] of changes) {
    if (session === null) result.delete(id);
    else result.set(id, session);
  }
  return result;
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
