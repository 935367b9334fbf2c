import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

import { post } from "../api/client";
import { events } from "../api/events";
import type { Project, Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Icon, Mark } from "../parts/icon";
import { follow, go, projectAddress, usePath, useRoute } from "../router";
import { MoveDialog } from "../session/move-dialog";
import { ProjectForm } from "../settings/project-form";
import { tab, useSessionsElsewhere, useTab, useTabAddress } from "../tab";
import { newestFirst } from "./groups";
import { PlaceSection, Rows } from "./place-section";
import { SearchResults } from "./search";
import { SelectionBar } from "./selection-bar";
import type { RowState } from "./session-row";

export function Sidebar({ onLeave }: { onLeave: () => void }) {
  const house = useHouse();
  const { loaded, problem } = useHouseState();
  const address = useTabAddress();
  const [query, setQuery] = useState("");
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const isSearching = query.trim() !== "";
  const select = useCallback((id: string) => setSelected((before) => toggled(before ?? new Set(), id)), []);
  const open = useCallback(
    (id: string, message?: string) => {
      tab.open(id, message);
      setQuery("");
      onLeave();
    },
    [onLeave],
  );
  const begin = useCallback(
    (place?: string | null) => {
      tab.begin(place === undefined ? (house.now.sessions.get(tab.now.session)?.project_id ?? tab.now.place) : place);
      onLeave();
    },
    [house, onLeave],
  );
  return (
    <nav className="sidebar" aria-label="Conversations">
      <header>
        <a className="brand" href={address} onClick={(event) => follow(event, () => { tab.show(); onLeave(); })}>
          <Mark />
          Cloister
        </a>
        <button type="button" className="new-chat" onClick={() => begin()} title="New chat (Alt+N)">
          <Icon name="plus" />
          New chat
        </button>
        <div className="search-row">
          <SearchField query={query} onChange={setQuery} />
          {house.mayWrite && selected === null && (
            <button type="button" className="quiet" disabled={isSearching} onClick={() => setSelected(new Set())} aria-label="Select conversations" title="Select conversations">
              <Icon name="select" />
            </button>
          )}
        </div>
      </header>
      <div className="places">
        {problem && !loaded && <p className="trouble" role="alert">{problem}</p>}
        {isSearching ? <SearchResults query={query} onOpen={open} /> : <Lists selected={selected} onOpen={open} onSelect={select} onBegin={begin} onLeave={onLeave} />}
      </div>
      {selected !== null && !isSearching && <SelectionBar selected={selected} onSelect={setSelected} onDone={() => setSelected(null)} />}
      <Footer onLeave={onLeave} />
    </nav>
  );
}

interface ListsProps {
  selected: ReadonlySet<string> | null;
  onOpen: (id: string) => void;
  onSelect: (id: string) => void;
  onBegin: (place: string | null) => void;
  onLeave: () => void;
}

/** The pinned conversations, then those of each project, then those that were put away. */
function Lists({ selected, onOpen, onSelect, onBegin, onLeave }: ListsProps) {
  const house = useHouse();
  const { projects, sessions, leaving, turns } = useHouseState();
  const others = useSessionsElsewhere();
  const { session: mine } = useTab();
  const onChat = useRoute().page === "chat";
  const [dropped, setDropped] = useState<{ session: Session; to: string | null } | null>(null);
  const [showsArchive, setShowsArchive] = useState(false);
  const [making, setMaking] = useState(false);
  const elsewhere = useMemo(() => new Set(others.values()), [others]);
  const rows = useMemo<RowState>(
    () => ({ current: onChat ? mine : null, elsewhere, turns, selected, onOpen, onSelect }),
    [onChat, mine, elsewhere, turns, selected, onOpen, onSelect],
  );
  const { pinned, archived, byPlace, away } = useMemo(() => sorted(sessions.values(), leaving), [sessions, leaving]);
  const drop = useCallback(
    (id: string, to: string | null) => {
      const session = house.now.sessions.get(id);
      if (session && session.project_id !== to) setDropped({ session, to });
    },
    [house],
  );
  const places: (string | null)[] = projects.map((project) => project.project_id);
  if (!house.me.confined) places.push(null);
  return (
    <>
      {pinned.length > 0 && (
        <section className="place-section" aria-label="Pinned">
          <h2 className="list-name"><Icon name="pin" /> Pinned</h2>
          <Rows sessions={pinned} rows={rows} />
        </section>
      )}
      {places.map((place) => (
        <PlaceSection key={place ?? "none"} place={place} sessions={byPlace.get(place) ?? NONE} others={away.get(place) ?? 0} rows={rows} onBegin={onBegin} onDrop={drop} onLeave={onLeave} />
      ))}
      {house.isAdmin && !house.me.confined && (
        <button type="button" className="more-rows new-project" onClick={() => setMaking(true)}><Icon name="plus" /> Add a project</button>
      )}
      {archived.length > 0 && (
        <section className="place-section" aria-label="Archived">
          <button type="button" className="archive-fold" aria-expanded={showsArchive} onClick={() => setShowsArchive(!showsArchive)}>
            <Icon name="archive" /> Archived <span className="number">{archived.length.toLocaleString()}</span>
          </button>
          {showsArchive && <p className="hint">Out of the way, but still remembered.</p>}
          {showsArchive && <Rows sessions={archived} rows={rows} />}
        </section>
      )}
      {making && <NewProject onMade={onLeave} onClose={() => setMaking(false)} />}
      {dropped && <MoveDialog session={dropped.session} to={dropped.to} onClose={() => setDropped(null)} />}
    </>
  );
}

/** Makes a project, and leads to it: on a phone the drawer closes, and the focus is in the page that is shown then. */
function NewProject({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const house = useHouse();
  const isMade = useRef(false);
  useEffect(
    () => () => {
      // After the dialog, which is taken away with this, has given the focus back to what opened it.
      if (isMade.current) setTimeout(() => document.getElementById("main")?.focus());
    },
    [],
  );
  return (
    <ProjectForm
      project={null}
      save={async (fields) => {
        const made = await post<Project>("/org/projects", { name: fields.name, member_visibility: fields.member_visibility });
        await house.readProjects();
        isMade.current = true;
        go(projectAddress(made.project_id));
        onMade();
        return made;
      }}
      onClose={onClose}
    />
  );
}

const NONE: Session[] = [];

function sorted(sessions: Iterable<Session>, leaving: ReadonlyMap<string, unknown>) {
  const [pinned, archived]: [Session[], Session[]] = [[], []];
  const byPlace = new Map<string | null, Session[]>();
  /** How many of a project are listed elsewhere: pinned or archived. */
  const away = new Map<string | null, number>();
  for (const session of newestFirst(sessions)) {
    if (leaving.has(session.external_id)) continue;
    if (session.archived || session.pinned) away.set(session.project_id, (away.get(session.project_id) ?? 0) + 1);
    if (session.archived) archived.push(session);
    else if (session.pinned) pinned.push(session);
    else if (!byPlace.get(session.project_id)?.push(session)) byPlace.set(session.project_id, [session]);
  }
  return { pinned, archived, byPlace, away };
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

function SearchField({ query, onChange }: { query: string; onChange: (query: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        field.current?.focus();
        field.current?.select();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <div className="search">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        value={query}
        dir="auto"
        placeholder="Search"
        aria-label="Search conversations"
        aria-keyshortcuts="Control+K Meta+K"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onChange("");
          if (event.key === "ArrowDown") {
            event.preventDefault();
            document.querySelector<HTMLElement>(".sidebar a.session-link")?.focus();
          }
        }}
      />
    </div>
  );
}

function Footer({ onLeave }: { onLeave: () => void }) {
  const path = usePath();
  const connection = useSyncExternalStore(events.watch, () => events.connection);
  return (
    <footer>
      {connection === "lost" && <p className="lost" role="status">Not connected. Trying again…</p>}
      <NavLink to="/memory" icon="leaf" label="Memory" path={path} onLeave={onLeave} />
      <NavLink to="/start" icon="arch" label="Start" path={path} onLeave={onLeave} />
      <NavLink to="/settings" icon="gear" label="Settings" path={path} onLeave={onLeave} />
    </footer>
  );
}

function NavLink({ to, icon, label, path, onLeave }: { to: string; icon: "arch" | "leaf" | "gear"; label: string; path: string; onLeave: () => void }) {
  return (
    <a href={to} className="nav-link" aria-current={path.startsWith(to) ? "page" : undefined} onClick={(event) => follow(event, () => { go(to); onLeave(); })}>
      <Icon name={icon} />
      {label}
    </a>
  );
}
