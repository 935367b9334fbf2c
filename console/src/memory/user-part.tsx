import { useState } from "react";

import { all, remove, segment } from "../api/client";
import type { Memory } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { PlaceName } from "../parts/place";
import { Source } from "../parts/source";
import { useAnswer } from "../parts/use-answer";
import { ForgetDialog } from "./forget-dialog";
import { Kept } from "./kept";

/** A user's memories, merged across conversations: to look at, not to recall from. */
export function UserPart() {
  const house = useHouse();
  const { sessions, projects } = useHouseState();
  const users = [...new Set([...sessions.values()].flatMap((session) => session.user_id ?? []))].sort();
  const [typed, setTyped] = useState<string | null>(null);
  const user = typed ?? users[0] ?? "";
  const memories = useAnswer(user && house.isAdmin ? user : null, (of, signal) => all<Memory>(`/v1/users/${segment(of)}/memories`, 10_000, signal));
  const [forgetting, setForgetting] = useState<Memory | null>(null);
  if (!house.isAdmin) return <p className="empty">Only an admin key may look at a user’s memories across conversations.</p>;
  return (
    <>
      <div className="toolbar">
        <label className="field inline">
          <span>User</span>
          <input list="known-users" value={user} dir="auto" placeholder="user id" onChange={(event) => setTyped(event.target.value)} />
        </label>
        <datalist id="known-users">{users.map((each) => <option key={each} value={each} />)}</datalist>
      </div>
      <p className="hint">All memories of this user, from every project. No reply is ever given this list: each conversation remembers its own project only.</p>
      {memories.problem && <p className="trouble" role="alert">{memories.problem}</p>}
      {!user && <p className="empty">No conversation belongs to a user yet. Programs set it with <code>user_id</code>.</p>}
      {memories.answer && (
        <Kept
          kept={memories.answer}
          empty="No memories of this user."
          about={(memory) => (
            <>
              <Source session={memory.session_id} message={memory.source_message_ids[0] ?? null} />
              <PlaceName project={sessions.get(memory.session_id)?.project_id ?? null} projects={projects} />
            </>
          )}
          onForget={setForgetting}
          onChanged={memories.again}
        />
      )}
      {forgetting && (
        <ForgetDialog
          title="Forget a memory"
          going={[`the memory “${forgetting.content}”`]}
          stays="The messages it came from stay, and are not read for memories again."
          act={() => remove(`/v1/memories/${forgetting.id}`)}
          onDone={memories.again}
          onClose={() => setForgetting(null)}
        />
      )}
    </>
  );
}
