import { useState } from "react";

import { get, remove, segment, withQuery } from "../api/client";
import { userActivityPath, userTimelinePath } from "../api/memories";
import { useHouse, useHouseState } from "../house";
import { ForgetDialog } from "../memory/forget-dialog";
import { Page } from "../parts/page";
import { PlaceName } from "../parts/place";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { USER_PARTS, userAddress, type UserPart } from "../router";
import { tab } from "../tab";
import { count } from "../words";
import { ActivityChart } from "./activity-chart";
import { ConversationsPart } from "./conversations-part";
import { TimelinePart } from "./timeline-part";
import { UserMemories } from "./user-memories";

const LABELS: Record<UserPart, string> = { memories: "Memories", timeline: "Timeline", conversations: "Conversations" };
type Counts = Record<"sessions" | "messages" | "memories" | "observations" | "entities" | "entries" | "files", number>;

/** What is remembered of one user, in all projects: to look at and to govern, not to recall from. */
export function UserPage({ user, part }: { user: string; part: UserPart | null }) {
  const house = useHouse();
  const { sessions } = useHouseState();
  const [erasing, setErasing] = useState(false);
  const mine = [...sessions.values()].filter((each) => each.user_id === user);
  const shown = house.isAdmin ? USER_PARTS : (["conversations"] as const);
  const now = shown.find((each) => each === part) ?? null;
  const parts = [[userAddress(user), "Profile"] as const, ...shown.map((each) => [userAddress(user, each), LABELS[each]] as const)];
  return (
    <Page title={user} parts={parts}>
      {now === null && house.isAdmin && <ActivityChart path={userActivityPath(user)} />}
      {now === null && <Profile user={user} />}
      {now === "memories" && <UserMemories user={user} />}
      {now === "timeline" && <TimelinePart path={userTimelinePath(user)} />}
      {now === "conversations" && <ConversationsPart sessions={mine} />}
      {house.isAdmin && !house.me.confined && <p><button type="button" className="grave" onClick={() => setErasing(true)}>Erase everything of this user…</button></p>}
      {erasing && <EraseUser user={user} onClose={() => setErasing(false)} />}
    </Page>
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
        tab.begin();
      }}
      onClose={onClose}
    />
  );
}
