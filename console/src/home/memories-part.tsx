import { useDeferredValue, useState, type ReactNode } from "react";

import { EVERYBODY, memoriesPath, type MemoryFilter } from "../api/memories";
import type { Memory } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { PageLink } from "../parts/page";
import { tab } from "../tab";
import { follow, go } from "../router";
import { titleOf } from "../words";
import { usePages } from "../parts/use-pages";
import { AddMemory } from "./add-memory";
import { MemoryRow } from "./memory-row";

interface Props {
  project: string | null;
  user: MemoryFilter["user"];
  /** The choice of a user; null where all have the same memories. */
  whose: ReactNode;
  hint: string;
}

export const STATUSES = [
  ["active", "current memories"],
  ["superseded", "no longer true: replaced"],
  ["retracted", "marked as untrue"],
  ["expired", "past their date"],
  ["", "all"],
] as const;

/** All memories of a project, newest first: searched, filtered, added to, corrected. */
export function MemoriesPart({ project, user, whose, hint }: Props) {
  const house = useHouse();
  const [query, setQuery] = useState("");
  const [status, setStatus] = useState("active");
  const [pinned, setPinned] = useState(false);
  const [category, setCategory] = useState("");
  const [adding, setAdding] = useState(false);
  const words = useDeferredValue(query.trim());
  const memories = usePages<Memory>(
    memoriesPath({ project, user, status, pinned, category, query: words }),
    memoriesPath({ project, user, status: "", pinned: false, category: "", query: "" }),
  );
  const isNarrowed = words !== "" || pinned || category !== "" || status !== "active";
  const categories = [...new Set([...(memories.items ?? []).flatMap((each) => each.categories ?? []), ...(category ? [category] : [])])].sort();
  return (
    <>
      <p className="hint">{hint}</p>
      <div className="toolbar home-tools" role="search" aria-label="Memories">
        <input type="search" value={query} dir="auto" maxLength={255} placeholder="Search memories" aria-label="Search memories" onChange={(event) => setQuery(event.target.value)} />
        {whose}
        <label className="field inline">
          <span>Show</span>
          <select value={status} onChange={(event) => setStatus(event.target.value)}>
            {STATUSES.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
          </select>
        </label>
        {categories.length > 0 && (
          <label className="field inline">
            <span>About</span>
            <select value={category} onChange={(event) => setCategory(event.target.value)}>
              <option value="">anything</option>
              {categories.map((each) => <option key={each} value={each}>{each}</option>)}
            </select>
          </label>
        )}
        <label className="check"><input type="checkbox" checked={pinned} onChange={(event) => setPinned(event.target.checked)} /> Pinned only</label>
        <span className="spacer" />
        {house.mayWrite && <button type="button" onClick={() => setAdding(true)}>Add a memory</button>}
      </div>
      {memories.problem && <p className="trouble" role="alert">{memories.problem}</p>}
      <FailedHere project={project} user={whose === null ? EVERYBODY : user} />
      {memories.items?.length === 0 && !memories.problem && (
        <p className="empty">{isNarrowed ? "No memories match." : <>No memories yet. After every few replies, what is worth remembering is kept here. You need not wait: <PageLink to="/memory">extract memories now</PageLink>.</>}</p>
      )}
      <ul className="kept" aria-label="Memories">
        {memories.items?.map((memory) => <MemoryRow key={memory.id} memory={memory} onChanged={memories.again} />)}
      </ul>
      {memories.hasMore && <p><button type="button" onClick={memories.more}>Show more</button></p>}
      {adding && <AddMemory project={project} user={user === EVERYBODY ? null : user} onDone={memories.again} onClose={() => setAdding(false)} />}
    </>
  );
}

/** A conversation of this project and user whose memories could not be extracted, if there is one: why, and the way to what can be done. */
function FailedHere({ project, user }: Pick<Props, "project" | "user">) {
  const { sessions, leaving } = useHouseState();
  const failed = [...sessions.values()].find(
    (each) => each.project_id === project && (user === EVERYBODY || each.user_id === user) && each.last_extraction_error !== null && !leaving.has(each.external_id),
  );
  if (!failed) return null;
  const look = () => {
    tab.select(failed.external_id);
    go("/memory");
  };
  return (
    <p className="trouble" role="alert">
      New memories of “<bdi>{titleOf(failed, failed.external_id)}</bdi>” could not be extracted: {failed.last_extraction_error}{" "}
      <a href="/memory" onClick={(event) => follow(event, look)}>What to do</a>
    </p>
  );
}
