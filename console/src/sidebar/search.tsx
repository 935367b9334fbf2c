/** Finds conversations by their titles, everywhere at once, and by what was said, place by place: no search looks into two. */

import { useEffect, useState } from "react";

import { post } from "../api/client";
import type { Hit, Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { PlaceName } from "../parts/place";
import { follow } from "../router";
import { titleOf } from "../words";

const AFTER = 220;
const MOST_PLACES = 12;
const MOST_HITS = 3;

interface Found {
  project: string | null;
  hits: Hit[];
}

export function SearchResults({ query, onOpen }: { query: string; onOpen: (id: string) => void }) {
  const house = useHouse();
  const { projects, sessions, leaving } = useHouseState();
  const [found, setFound] = useState<{ query: string; places: Found[] } | null>(null);
  const wanted = query.trim();

  useEffect(() => {
    let current = true;
    const places: (string | null)[] = projects.slice(0, MOST_PLACES).map((project) => project.project_id);
    if (!house.me.confined) places.push(null);
    const timer = setTimeout(() => {
      void Promise.all(places.map((project) => searchIn(project, wanted))).then((all) => {
        if (current) setFound({ query: wanted, places: all.filter((each) => each.hits.length > 0) });
      });
    }, AFTER);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [wanted, projects, house]);

  const folded = wanted.toLocaleLowerCase();
  const titled = [...sessions.values()]
    .filter((session) => !leaving.has(session.external_id) && (session.title ?? session.external_id).toLocaleLowerCase().includes(folded))
    .slice(0, 8);
  const current = found?.query === wanted ? found.places : null;
  return (
    <div className="search-results" role="region" aria-label="Search results">
      {titled.length > 0 && (
        <section>
          <h2>By title</h2>
          <ul>{titled.map((session) => <Titled key={session.external_id} session={session} onOpen={onOpen} />)}</ul>
        </section>
      )}
      {current?.map(({ project, hits }) => (
        <section key={project ?? "none"}>
          <h2>Said in <PlaceName project={project} projects={projects} /></h2>
          <ul>
            {hits.map((hit) => (
              <li key={hit.id}>
                <a
                  className="session-link hit"
                  href={`/?session=${encodeURIComponent(hit.session_id ?? "")}`}
                  onClick={(event) => follow(event, () => hit.session_id && onOpen(hit.session_id))}
                >
                  <span className="session-title">{titleOf(sessions.get(hit.session_id ?? ""), hit.session_id ?? "")}</span>
                  <span className="excerpt">{hit.content}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {titled.length === 0 && <p className="hint" role="status">{current === null ? "Looking…" : current.length === 0 ? "Nothing found, in any place." : ""}</p>}
    </div>
  );
}

function Titled({ session, onOpen }: { session: Session; onOpen: (id: string) => void }) {
  const { projects } = useHouseState();
  return (
    <li>
      <a className="session-link hit" href={`/?session=${encodeURIComponent(session.external_id)}`} onClick={(event) => follow(event, () => onOpen(session.external_id))}>
        <span className="session-title">{titleOf(session, session.external_id)}</span>
        <span className="excerpt"><PlaceName project={session.project_id} projects={projects} /></span>
      </a>
    </li>
  );
}

async function searchIn(project: string | null, query: string): Promise<Found> {
  try {
    const answer = await post<{ data: Hit[] }>("/v1/search", { query, project_id: project, kinds: ["episodes"], limit: MOST_HITS });
    return { project, hits: answer.data };
  } catch {
    return { project, hits: [] };
  }
}
