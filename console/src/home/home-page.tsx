import { useState } from "react";

import { activityPath, EVERYBODY, timelinePath, type MemoryFilter } from "../api/memories";
import { useHouse, useHouseState } from "../house";
import { Page } from "../parts/page";
import { projectAddress, type ProjectPart } from "../router";
import { tab } from "../tab";
import { placeHint, placeName } from "../words";
import { ActivityChart } from "./activity-chart";
import { ConversationsPart } from "./conversations-part";
import { EntitiesPart } from "./entities-part";
import { MemoriesPart } from "./memories-part";
import { SettingsPart } from "./settings-part";
import { TimelinePart } from "./timeline-part";

const LABELS: Record<ProjectPart, string> = {
  memories: "Memories",
  entities: "Entities",
  timeline: "Timeline",
  conversations: "Conversations",
  settings: "Settings",
};

/** The home of a project, or of what is in no project (null): what it remembers, knows, and has in it. */
export function HomePage({ project: id, part }: { project: string | null; part: ProjectPart | null }) {
  const house = useHouse();
  const { projects, sessions } = useHouseState();
  const project = projects.find((each) => each.project_id === id);
  const isDivided = project?.member_visibility !== "shared";
  const users = [...new Set([...sessions.values()].filter((each) => each.project_id === id).flatMap((each) => each.user_id ?? []))].sort();
  const [chosen, setChosen] = useState<MemoryFilter["user"]>(house.isAdmin && isDivided ? EVERYBODY : null);
  if (id !== null && !project) {
    return <div className="page not-found"><h1>No such project</h1><p>It was deleted, or your key can’t reach it.</p></div>;
  }
  const shown: ProjectPart[] = id === null ? ["memories", "conversations"] : ["memories", "entities", "timeline", "conversations", "settings"];
  const parts = shown.map((each) => [projectAddress(id, each === "memories" ? null : each), LABELS[each]] as const);
  const now = part !== null && shown.includes(part) ? part : "memories";
  const whose = isDivided ? <Whose users={users} value={chosen} onChange={setChosen} everybody={house.isAdmin && now !== "entities"} /> : null;
  // Entities are listed for one user at a time.
  const user = isDivided ? chosen : null;
  const oneUser = user === EVERYBODY ? (users[0] ?? null) : user;
  return (
    <Page title={placeName(id, projects)} parts={parts} action={house.mayWrite && <button type="button" onClick={() => tab.begin(id)}>New chat here</button>}>
      {now === "memories" && id !== null && <ActivityChart path={activityPath(id, user)} />}
      {now === "memories" && <MemoriesPart project={id} user={user} whose={whose} hint={placeHint(id)} />}
      {now === "entities" && project && (
        <EntitiesPart
          key={oneUser}
          project={project}
          user={oneUser}
          whose={isDivided ? <Whose users={users} value={oneUser} onChange={setChosen} everybody={false} /> : null}
        />
      )}
      {now === "timeline" && id !== null && <TimelinePart path={timelinePath(id, user)} whose={whose} />}
      {now === "conversations" && <ConversationsPart sessions={[...sessions.values()].filter((each) => each.project_id === id)} />}
      {now === "settings" && project && <SettingsPart project={project} />}
    </Page>
  );
}

interface WhoseProps {
  users: readonly string[];
  value: MemoryFilter["user"];
  onChange: (user: MemoryFilter["user"]) => void;
  everybody: boolean;
}

/** Whose memories are shown, where they are private to each member. */
function Whose({ users, value, onChange, everybody }: WhoseProps) {
  if (users.length === 0) return null;
  const known = value === null ? "none" : value === EVERYBODY ? "everybody" : `user ${value}`;
  const read = (chosen: string) => onChange(chosen === "none" ? null : chosen === "everybody" ? EVERYBODY : chosen.slice("user ".length));
  return (
    <label className="field inline">
      <span>Whose</span>
      <select value={known} onChange={(event) => read(event.target.value)}>
        {everybody && <option value="everybody">everybody’s</option>}
        <option value="none">chats without a user</option>
        {users.map((each) => <option key={each} value={`user ${each}`}>{each}</option>)}
      </select>
    </label>
  );
}
