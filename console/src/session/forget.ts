import { sentence } from "../api/client";
import type { Session } from "../api/shapes";
import type { House } from "../house";
import { toast } from "../parts/toasts";
import { count, titleOf } from "../words";

/** Out of sight at once; until the toast is gone, nothing has happened that could not be undone. */
export function forgetWithUndo(house: House, session: Session): void {
  const title = titleOf(session, session.external_id);
  const gone = toast(`Deleted “${title}”.`, {
    seconds: 7,
    action: { label: "Undo", act: () => house.undo(session.external_id) },
  });
  house.forget(session, (outcome) => {
    gone();
    if (outcome instanceof Error) toast(`“${title}” could not be deleted: ${sentence(outcome)}`, { seconds: 10 });
    else toast(`“${title}” is gone: ${count(outcome.messages, "message")}, ${count(outcome.memories, "memory", "memories")}, ${count(outcome.observations, "summary", "summaries")}.`);
  });
}

/** The same for several at once, with one toast. */
export function forgetAllWithUndo(house: House, sessions: readonly Session[]): void {
  const many = count(sessions.length, "conversation");
  let [failed, left] = [0, sessions.length];
  const gone = toast(`Deleted ${many}.`, {
    seconds: 7,
    action: { label: "Undo", act: () => sessions.forEach((session) => house.undo(session.external_id)) },
  });
  for (const session of sessions) {
    house.forget(session, (outcome) => {
      gone();
      left -= 1;
      if (outcome instanceof Error) failed += 1;
      if (left === 0 && failed > 0) toast(`${count(failed, "conversation")} could not be deleted.`, { seconds: 10 });
    });
  }
}
