import type { Session } from "../api/shapes";
import { Source } from "../parts/source";
import { When } from "../parts/when";
import { SessionMenu } from "../session/session-menu";
import { count } from "../words";
import { useState } from "react";

const AT_FIRST = 100;

/** Conversations, the last used first. */
export function ConversationsPart({ sessions }: { sessions: readonly Session[] }) {
  const [most, setMost] = useState(AT_FIRST);
  const listed = sessions.toSorted((one, other) => other.updated_at.localeCompare(one.updated_at));
  if (listed.length === 0) return <p className="empty">No conversations yet.</p>;
  return (
    <>
      <ul className="kept" aria-label="Conversations">
        {listed.slice(0, most).map((session) => (
          <li key={session.external_id}>
            <div className="memory-line">
              <Source session={session.external_id} />
              <SessionMenu session={session} />
            </div>
            <footer>
              <span>{count(session.message_count, "message")}, {count(session.memory_count ?? 0, "memory", "memories")}</span>
              {session.user_id !== null && <bdi>{session.user_id}</bdi>}
              {session.archived && <span className="kind">archived</span>}
              <When moment={session.updated_at} />
            </footer>
          </li>
        ))}
      </ul>
      {listed.length > most && <p><button type="button" onClick={() => setMost(most + AT_FIRST)}>Show more</button></p>}
    </>
  );
}
