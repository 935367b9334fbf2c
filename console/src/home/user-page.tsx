import { useState } from "react";

import { all, get, remove, segment, withQuery } from "../api/client";
import { userActivityPath, userTimelinePath } from "../api/memories";
import type { Memory } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { ForgetDialog } from "../memory/forget-dialog";
import { PlaceName } from "../parts/place";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { go } from "../router";
import { count } from "../words";
import { ActivityChart } from "./activity-chart";
import { ConversationsPart } from "./conversations-part";
import { MemoryRow } from "./memory-row";
import { TimelinePart } from "./timeline-part";

const PARTS = ["Profile", "Memories", "Timeline", "Conversations"] as const;
type Part = (typeof PARTS)[number];
type Counts = Record<"sessions" | "messages" | "memories" | "observations" | "entities" | "entries" | "files", number>;

/** What is remembered of one user, in all projects: to look at and to govern, not to recall from. */
export function UserPage({ user }: { user: string }) {
  const house = useHouse();
  const { sessions } = useHouseState();
  const [part, setPart] = useState<Part>("Profile");
  const [erasing, setErasing] = useState(false);
  const mine = [...sessions.values()].filter((each) => each.user_id === user);
  return (
    <div className="page">
      <h1><bdi>{user}</bdi></h1>
      <nav className="parts" aria-label="Parts">
        {PARTS.filter((each) => house.isAdmin || each === "Profile" || each === "Conversations").map((each) => (
          <button key={each} type="button" aria-current={each === part ? "page" : undefined} onClick={() => setPart(each)}>{each}</button>
        ))}
      </nav>
      {part === "Profile" && house.isAdmin && <ActivityChart path={userActivityPath(user)} />}
      {part === "Profile" && <Profile user={user} />}
      {part === "Memories" && <Memories user={user} />}
      {part === "Timeline" && <TimelinePart path={userTimelinePath(user)} />}
      {part === "Conversations" && <ConversationsPart sessions={mine} />}
      {house.isAdmin && !house.me.confined && <p><button type="button" className="grave" onClick={() => setErasing(true)}>Erase everything of this user…</button></p>}
      {erasing && <EraseUser user={user} onClose={() => setErasing(false)} />}
    </div>
  );
}

/** The stable facts of a user, project by project: each is a memory of its own. */
function Profile({ user }: { user: string }) {
  const { sessions, projects } = useHouseState();
  const places = [...new Set([...sessions.values()].filter((each) => each.user_id === user).map((each) => each.project_id))];
  if (places.length === 0) return <p className="empty">No conversation belongs to this user.</p>;
  return places.map((place) => (
    <section key={place}>
      <h2><PlaceName project={place} projects={projects} /></h2>
      <Facts user={user} project={place} />
    </section>
  ));
}

function Facts({ user, project }: { user: string; project: string | null }) {
  const path = withQuery(`/v1/users/${segment(user)}/profile`, { project_id: project ?? "none", budget_tokens: "1000" });
  const profile = useAnswer(path, (asked, signal) => get<{ facts: { content: string }[] }>(asked, signal));
  if (profile.problem) return <p className="trouble" role="alert">{profile.problem}</p>;
  if (!profile.answer) return <p className="hint">Loading…</p>;
  if (profile.answer.facts.length === 0) return <p className="hint">Nothing lasting is known yet.</p>;
  return <ul className="facts-list">{profile.answer.facts.map((fact) => <li key={fact.content} className="statement" dir="auto">{fact.content}</li>)}</ul>;
}

function Memories({ user }: { user: string }) {
  const { sessions, projects } = useHouseState();
  const memories = useAnswer(user, (of, signal) => all<Memory>(`/v1/users/${segment(of)}/memories`, 10_000, signal));
  return (
    <>
      <p className="hint">All memories of this user, from every project. No reply is ever given this list: each conversation remembers its own project only.</p>
      {memories.problem && <p className="trouble" role="alert">{memories.problem}</p>}
      {memories.answer?.length === 0 && <p className="empty">No memories of this user.</p>}
      <ul className="kept" aria-label="Memories">
        {memories.answer?.toReversed().map((memory) => (
          <MemoryRow key={memory.id} memory={memory} about={<PlaceName project={sessions.get(memory.session_id)?.project_id ?? null} projects={projects} />} onChanged={memories.again} />
        ))}
      </ul>
    </>
  );
}

function EraseUser({ user, onClose }: { user: string; onClose: () => void }) {
  const house = useHouse();
  const path = `/v1/users/${segment(user)}`;
  const going = useAnswer(`${path}?dry_run=true`, (asked) => remove<Counts>(asked));
  if (!going.answer) return going.problem ? <p className="trouble" role="alert">{going.problem}</p> : null;
  const { sessions, messages, memories, entities } = going.answer;
  return (
    <ForgetDialog
      title={`Erase ${user}`}
      going={[count(sessions, "conversation"), count(messages, "message"), count(memories, "memory", "memories"), count(entities, "entity", "entities"), "the keys that are bound to this user"]}
      stays="This can’t be undone. Nothing of other users is changed."
      act={() => remove(path)}
      onDone={() => {
        toast(`Erased ${user}.`);
        void house.readAll();
        go("/");
      }}
      onClose={onClose}
    />
  );
}
