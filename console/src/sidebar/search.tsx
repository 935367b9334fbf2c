/** Finds conversations by their titles, and by what was said: in each project, and in each user's part of it, by a search of its own. */

import { useEffect, useMemo, useState } from "react";

import { post, sentence } from "../api/client";
import type { Hit, Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { PlaceName } from "../parts/place";
import { When } from "../parts/when";
import { chatAddress, follow } from "../router";
import { titleOf } from "../words";
import { MOST_USERS, targetsOf, withHits, type Found, type Target, type Targets } from "./search-targets";

const AFTER = 220;
const AT_ONCE = 4;
const MOST_HITS = 5;

interface Shown {
  query: string;
  places: Found[];
  /** Whether parts of further users were not searched. */
  isCut: boolean;
  done: boolean;
  /** Why a part could not be searched, if one could not. */
  problem: string | null;
}

const NOTHING: Omit<Shown, "query"> = { places: [], isCut: false, done: false, problem: null };

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
      <p className="hint" role="status">{!found.done ? "Searching…" : isEmpty && found.problem === null ? "Nothing found." : ""}</p>
      {found.problem !== null && <p className="trouble" role="alert">{isEmpty ? "The search failed" : "Some projects could not be searched"}: {found.problem}</p>}
      {found.isCut && <p className="hint">Only the {MOST_USERS} most recent users were searched.</p>}
    </div>
  );
}

/** The hits in each project as they come, a few requests at a time. */
function useFound(query: string): Shown {
  const house = useHouse();
  const { projects, sessions } = useHouseState();
  const targets = useMemo(() => targetsOf(projects, sessions.values(), house.me), [projects, sessions, house]);
  // A conversation that is only renamed or continued changes nothing in what is asked.
  const key = JSON.stringify(targets);
  const [shown, setShown] = useState<Shown>({ ...NOTHING, query: "" });
  useEffect(() => {
    const { all, isCut } = JSON.parse(key) as Targets;
    const control = new AbortController();
    const isOver = () => control.signal.aborted;
    const order = all.map((target) => target.project);
    const add = (project: string | null, hits: readonly Hit[]) =>
      setShown((before) => ({ query, places: withHits(before.query === query ? before.places : [], project, hits, order), isCut, done: false, problem: before.query === query ? before.problem : null }));
    const fail = (problem: string) => setShown((before) => ({ ...(before.query === query ? before : NOTHING), query, isCut, done: false, problem }));
    const search = async () => {
      const left = [...all];
      const work = async () => {
        for (let target = left.shift(); target !== undefined && !isOver(); target = left.shift()) {
          try {
            const hits = await searchIn(target, query);
            if (!isOver()) add(target.project, hits);
          } catch (error) {
            if (!isOver()) fail(sentence(error));
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (!isOver()) setShown((before) => ({ ...(before.query === query ? before : NOTHING), query, isCut, done: true }));
    };
    const timer = setTimeout(() => void search(), AFTER);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [query, key]);
  return shown.query === query ? shown : { ...NOTHING, query };
}

function HitRow({ hit, session, onOpen }: { hit: Hit; session: string; onOpen: (id: string, message?: string) => void }) {
  const { sessions } = useHouseState();
  const title = titleOf(sessions.get(session), session);
  const user = sessions.get(session)?.user_id ?? null;
  const message = hit.message_id ?? undefined;
  return (
    <li>
      <a className="session-link hit" href={chatAddress(session, message)} onClick={(event) => follow(event, () => onOpen(session, message))}>
        <span className="hit-head"><bdi className="session-title" title={title}>{title}</bdi> <When moment={hit.created_at} /></span>
        <span className="excerpt" dir="auto">{hit.content}</span>
        {user !== null && <bdi className="kind">{user}</bdi>}
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

async function searchIn({ project, user }: Target, query: string): Promise<Hit[]> {
  const part = user === null ? {} : { user_id: user };
  const { data } = await post<{ data: Hit[] }>("/v1/search", { query, project_id: project, ...part, kinds: ["episodes"], limit: MOST_HITS });
  return data;
}
