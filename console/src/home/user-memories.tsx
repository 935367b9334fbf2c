import { useState } from "react";

import { all, segment } from "../api/client";
import type { Memory } from "../api/shapes";
import { useHouseState } from "../house";
import { PlaceName } from "../parts/place";
import { useAnswer } from "../parts/use-answer";
import { NO_PROJECT } from "../words";
import { STATUSES } from "./memories-part";
import { MemoryRow } from "./memory-row";

const AT_ONCE = 50;
/** No project has this id. */
const EVERY_PROJECT = "every";
const NONE = "none";

/** All memories of one user, from every project, newest first: searched and filtered here, as the server lists them whole. */
export function UserMemories({ user }: { user: string }) {
  const { sessions, projects } = useHouseState();
  const memories = useAnswer(user, (of, signal) => all<Memory>(`/v1/users/${segment(of)}/memories`, 10_000, signal));
  const [query, setQuery] = useState("");
  const [status, setStatus] = useState("active");
  const [project, setProject] = useState(EVERY_PROJECT);
  const [pinned, setPinned] = useState(false);
  const [most, setMost] = useState(AT_ONCE);
  const listed = memories.answer ?? [];
  const projectOf = (memory: Memory) => sessions.get(memory.session_id)?.project_id ?? null;
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const isWanted = (memory: Memory) =>
    words.every((word) => memory.content.toLocaleLowerCase().includes(word)) &&
    (status === "" || (memory.status ?? "active") === status) &&
    (project === EVERY_PROJECT || (projectOf(memory) ?? NONE) === project) &&
    (!pinned || memory.pinned);
  const found = listed.filter(isWanted).toReversed();
  const places = [...new Set(listed.map((memory) => projectOf(memory)))];
  return (
    <>
      <p className="hint">All memories of this user, from every project. No reply is ever given this list: each conversation remembers its own project only.</p>
      <div className="toolbar home-tools" role="search" aria-label="Memories">
        <input type="search" value={query} dir="auto" placeholder="Search memories" aria-label="Search memories" onChange={(event) => setQuery(event.target.value)} />
        <label className="field inline">
          <span>Project</span>
          <select value={project} onChange={(event) => setProject(event.target.value)}>
            <option value={EVERY_PROJECT}>all projects</option>
            {projects.filter((each) => places.includes(each.project_id)).map((each) => <option key={each.project_id} value={each.project_id}>{each.name}</option>)}
            {places.includes(null) && <option value={NONE}>{NO_PROJECT}</option>}
          </select>
        </label>
        <label className="field inline">
          <span>Show</span>
          <select value={status} onChange={(event) => setStatus(event.target.value)}>
            {STATUSES.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
          </select>
        </label>
        <label className="check"><input type="checkbox" checked={pinned} onChange={(event) => setPinned(event.target.checked)} /> Pinned only</label>
      </div>
      {memories.problem && <p className="trouble" role="alert">{memories.problem}</p>}
      {!memories.answer && !memories.problem && <p className="hint" role="status">Loading…</p>}
      {memories.answer && found.length === 0 && <p className="empty">{listed.length > 0 ? "No memories match." : "No memories of this user."}</p>}
      <ul className="kept" aria-label="Memories">
        {found.slice(0, most).map((memory) => (
          <MemoryRow key={memory.id} memory={memory} about={<PlaceName project={projectOf(memory)} projects={projects} />} onChanged={memories.again} />
        ))}
      </ul>
      {found.length > most && <p><button type="button" onClick={() => setMost(most + AT_ONCE)}>Show more</button></p>}
    </>
  );
}
