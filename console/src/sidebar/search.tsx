/** Finds conversations by their titles, and by what was said, project by project: no search looks into two. */

import { useEffect, useState } from "react";

import { post } from "../api/client";
import type { Hit, Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { PlaceName } from "../parts/place";
import { When } from "../parts/when";
import { chatAddress, follow } from "../router";
import { titleOf } from "../words";

const AFTER = 220;
const AT_ONCE = 4;
const MOST_HITS = 5;

interface Found {
  query: string;
  places: { project: string | null; hits: Hit[] }[];
  done: boolean;
}

export function SearchResults({ query, onOpen }: { query: string; onOpen: (id: string, message?: string) => void }) {
  const { projects, sessions, leaving } = useHouseState();
  const wanted = query.trim();
  const found = useFound(wanted);
  const folded = wanted.toLocaleLowerCase();
  const titled = [...sessions.values()]
    .filter((session) => !leaving.has(session.external_id) && (session.title ?? session.external_id).toLocaleLowerCase().includes(folded))
    .slice(0, 8);
  const isEmpty = titled.length === 0 && found.places.length === 0;
  return (
    <div className="search-results" role="region" aria-label="Search results">
      {titled.length > 0 && (
        <section>
          <h2>By title</h2>
          <ul>{titled.map((session) => <Titled key={session.external_id} session={session} onOpen={onOpen} />)}</ul>
        </section>
      )}
      {found.places.map(({ project, hits }) => (
        <section key={project ?? "none"}>
          <h2>Said in <PlaceName project={project} projects={projects} /></h2>
          <ul>{hits.map((hit) => <HitRow key={hit.id} hit={hit} session={hit.session_id ?? ""} onOpen={onOpen} />)}</ul>
        </section>
      ))}
      <p className="hint" role="status">{!found.done ? "Searching…" : isEmpty ? "Nothing found." : ""}</p>
    </div>
  );
}

/** The hits in each project as they come, a few projects at a time. */
function useFound(query: string): Found {
  const house = useHouse();
  const { projects } = useHouseState();
  const [found, setFound] = useState<Found>({ query: "", places: [], done: false });
  useEffect(() => {
    const control = new AbortController();
    const isOver = () => control.signal.aborted;
    const places: (string | null)[] = projects.map((project) => project.project_id);
    if (!house.me.confined) places.push(null);
    const search = async () => {
      const left = [...places];
      const work = async () => {
        for (let project = left.shift(); project !== undefined && !isOver(); project = left.shift()) {
          const hits = await searchIn(project, query);
          if (isOver()) return;
          const one = project;
          setFound((before) => ({ query, places: inOrder([...(before.query === query ? before.places : []), ...(hits.length > 0 ? [{ project: one, hits }] : [])], places), done: false }));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (!isOver()) setFound((before) => ({ query, places: before.query === query ? before.places : [], done: true }));
    };
    const timer = setTimeout(() => void search(), AFTER);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [query, projects, house]);
  return found.query === query ? found : { query, places: [], done: false };
}

function inOrder(found: Found["places"], places: readonly (string | null)[]): Found["places"] {
  return found
    .filter((each, number) => found.findIndex((other) => other.project === each.project) === number)
    .sort((one, other) => places.indexOf(one.project) - places.indexOf(other.project));
}

function HitRow({ hit, session, onOpen }: { hit: Hit; session: string; onOpen: (id: string, message?: string) => void }) {
  const { sessions } = useHouseState();
  const title = titleOf(sessions.get(session), session);
  const message = hit.message_id ?? undefined;
  return (
    <li>
      <a className="session-link hit" href={chatAddress(session, message)} onClick={(event) => follow(event, () => onOpen(session, message))}>
        <span className="hit-head"><bdi className="session-title" title={title}>{title}</bdi> <When moment={hit.created_at} /></span>
        <span className="excerpt" dir="auto">{hit.content}</span>
        {hit.strength === "weak" && <span className="kind">Weak match</span>}
      </a>
    </li>
  );
}

function Titled({ session, onOpen }: { session: Session; onOpen: (id: string) => void }) {
  const { projects } = useHouseState();
  const title = titleOf(session, session.external_id);
  return (
    <li>
      <a className="session-link hit" href={chatAddress(session.external_id)} onClick={(event) => follow(event, () => onOpen(session.external_id))}>
        <bdi className="session-title" title={title}>{title}</bdi>
        <span className="excerpt"><PlaceName project={session.project_id} projects={projects} /></span>
      </a>
    </li>
  );
}

/** Strong hits; weak ones only where there is nothing better. */
async function searchIn(project: string | null, query: string): Promise<Hit[]> {
  try {
    const { data } = await post<{ data: Hit[] }>("/v1/search", { query, project_id: project, kinds: ["episodes"], limit: MOST_HITS });
    const strong = data.filter((hit) => hit.strength === "strong");
    return strong.length > 0 ? strong : data;
  } catch {
    return [];
  }
}
