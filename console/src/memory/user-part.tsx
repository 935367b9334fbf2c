import { useState } from "react";

import { UserMemories } from "../home/user-memories";
import { useHouse, useHouseState } from "../house";

/** A user's memories, merged across conversations: to look at and to mend, not to recall from. */
export function UserPart() {
  const house = useHouse();
  const { sessions } = useHouseState();
  const users = [...new Set([...sessions.values()].flatMap((session) => session.user_id ?? []))].sort();
  const [typed, setTyped] = useState<string | null>(null);
  const user = typed ?? users[0] ?? "";
  if (!house.isAdmin) return <p className="empty">Only an admin key may look at a user’s memories across conversations.</p>;
  return (
    <>
      <div className="toolbar">
        <label className="field inline">
          <span>User</span>
          <input list="known-users" value={user} dir="auto" placeholder="name of a user" onChange={(event) => setTyped(event.target.value)} />
        </label>
        <datalist id="known-users">{users.map((each) => <option key={each} value={each} />)}</datalist>
      </div>
      {user ? (
        <UserMemories key={user} user={user} />
      ) : users.length > 0 ? (
        <p className="empty">Choose a user.</p>
      ) : (
        <p className="empty">Nothing to show: your own chats belong to nobody in particular, and all have the same memory in their project. This list is for programs that use Cloister for several people and say who is talking (<code>user_id</code>).</p>
      )}
    </>
  );
}
