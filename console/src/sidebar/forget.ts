import { sentence } from "../api/client";
import type { Session } from "../api/shapes";
import type { House } from "../house";
import { toast } from "../parts/toasts";
import { count, titleOf } from "../words";

/** Out of sight at once; until the toast is gone, nothing has happened that could not be undone. */
export function forgetWithUndo(house: House, session: Session): void {
  const title = titleOf(session, session.external_id);
  const gone = toast(`Deleted “${title}”, with all that was kept of it.`, {
    seconds: 7,
    action: { label: "Undo", act: () => house.undo(session.external_id) },
  });
  house.forget(session, (outcome) => {
    gone();
    if (outcome instanceof Error) toast(`“${title}” could not be deleted: ${sentence(outcome)}`, { seconds: 10 });
    else toast(`“${title}” is forgotten: ${count(outcome.messages, "message")}, ${count(outcome.memories, "memory", "memories")}, ${count(outcome.observations, "note")}.`);
  });
}
