import { useEffect, useRef, useState, useSyncExternalStore, type DragEvent } from "react";

import { events } from "../api/events";
import type { Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Icon, Mark } from "../parts/icon";
import { PlaceName } from "../parts/place";
import { follow, go, usePath } from "../router";
import { tab, useSessionsElsewhere, useTab } from "../tab";
import { placeName } from "../words";
import { MoveDialog } from "./move-dialog";
import { SearchResults } from "./search";
import { DRAGGED, SessionRow } from "./session-row";

const SHOWN_AT_FIRST = 12;

export function Sidebar({ onLeave }: { onLeave: () => void }) {
  const house = useHouse();
  const { projects, sessions, leaving, loaded, problem } = useHouseState();
  const { session: mine } = useTab();
  const path = usePath();
  const [query, setQuery] = useState("");
  const [dropped, setDropped] = useState<{ session: Session; to: string | null } | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const connection = useSyncExternalStore(events.watch, () => events.connection);

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

  const open = (id: string) => {
    tab.open(id);
    setQuery("");
    go("/");
    onLeave();
  };
  const begin = (place?: string | null) => {
    tab.begin(place === undefined ? (sessions.get(mine)?.project_id ?? tab.now.place) : place);
    go("/");
    onLeave();
  };
  const shown = [...sessions.values()]
    .filter((session) => !leaving.has(session.external_id))
    .sort((one, other) => other.updated_at.localeCompare(one.updated_at));
  const places: (string | null)[] = projects.map((project) => project.project_id);
  if (!house.me.confined) places.push(null);

  return (
    <nav className="sidebar" aria-label="Conversations">
      <header>
        <a className="brand" href="/" onClick={(event) => follow(event, () => { go("/"); onLeave(); })}>
          <Mark />
          Cloister
        </a>
        <button type="button" className="new-chat" onClick={() => begin()} title="New chat (Alt+N)">
          <Icon name="plus" />
          New chat
        </button>
        <div className="search">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            value={query}
            placeholder="Search"
            aria-label="Search conversations"
            aria-keyshortcuts="Control+K Meta+K"
            onChange={(event) => setQuery(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") setQuery("");
              if (event.key === "ArrowDown") {
                event.preventDefault();
                document.querySelector<HTMLElement>(".sidebar .session-link")?.focus();
              }
            }}
          />
        </div>
      </header>
      <div className="places">
        {problem && !loaded && <p className="trouble" role="alert">{problem}</p>}
        {query.trim() ? (
          <SearchResults query={query} onOpen={open} />
        ) : (
          places.map((place) => (
            <PlaceSection
              key={place ?? "none"}
              place={place}
              sessions={shown.filter((session) => session.project_id === place)}
              onOpen={open}
              onBegin={() => begin(place)}
              onDrop={(id) => {
                const session = sessions.get(id);
                if (session && session.project_id !== place) setDropped({ session, to: place });
              }}
            />
          ))
        )}
      </div>
      <footer>
        {connection === "lost" && <p className="lost" role="status">Not connected. Trying again…</p>}
        <NavLink to="/memory" icon="leaf" label="Memory" path={path} onLeave={onLeave} />
        <NavLink to="/settings" icon="gear" label="Settings" path={path} onLeave={onLeave} />
      </footer>
      {dropped && <MoveDialog session={dropped.session} to={dropped.to} onClose={() => setDropped(null)} />}
    </nav>
  );
}

interface SectionProps {
  place: string | null;
  sessions: Session[];
  onOpen: (id: string) => void;
  onBegin: () => void;
  onDrop: (id: string) => void;
}

function PlaceSection({ place, sessions, onOpen, onBegin, onDrop }: SectionProps) {
  const { projects, turns } = useHouseState();
  const elsewhere = useSessionsElsewhere();
  const { session: mine } = useTab();
  const onChat = usePath() === "/";
  const [folded, setFolded] = useState(false);
  const [whole, setWhole] = useState(false);
  const [over, setOver] = useState(0);
  const others = new Set(elsewhere.values());
  const shown = whole ? sessions : sessions.slice(0, SHOWN_AT_FIRST);
  const name = placeName(place, projects);
  const isOurs = (event: DragEvent) => event.dataTransfer.types.includes(DRAGGED);
  return (
    <section
      className={over > 0 ? "place-section over" : "place-section"}
      aria-label={name}
      onDragEnter={(event) => isOurs(event) && setOver((depth) => depth + 1)}
      onDragLeave={(event) => isOurs(event) && setOver((depth) => depth - 1)}
      onDragOver={(event) => isOurs(event) && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        setOver(0);
        onDrop(event.dataTransfer.getData(DRAGGED));
      }}
    >
      <header>
        <button type="button" className="fold" aria-expanded={!folded} onClick={() => setFolded(!folded)}>
          <PlaceName project={place} projects={projects} />
          <span className="number">{sessions.length}</span>
        </button>
        <button type="button" className="quiet" aria-label={`New chat in ${name}`} title={`New chat in ${name}`} onClick={onBegin}>
          <Icon name="plus" />
        </button>
      </header>
      {over > 0 && <p className="hint">Drop it here, and you will be told what becomes visible.</p>}
      {!folded && (
        <ul>
          {shown.map((session) => (
            <SessionRow
              key={session.external_id}
              session={session}
              current={onChat && session.external_id === mine}
              elsewhere={others.has(session.external_id)}
              writing={turns.has(session.external_id)}
              onOpen={onOpen}
            />
          ))}
          {sessions.length === 0 && <li className="nobody">No conversation yet</li>}
          {sessions.length > shown.length && (
            <li><button type="button" className="more-rows" onClick={() => setWhole(true)}>{sessions.length - shown.length} more</button></li>
          )}
        </ul>
      )}
    </section>
  );
}

function NavLink({ to, icon, label, path, onLeave }: { to: string; icon: "leaf" | "gear"; label: string; path: string; onLeave: () => void }) {
  return (
    <a href={to} className="nav-link" aria-current={path.startsWith(to) ? "page" : undefined} onClick={(event) => follow(event, () => { go(to); onLeave(); })}>
      <Icon name={icon} />
      {label}
    </a>
  );
}
