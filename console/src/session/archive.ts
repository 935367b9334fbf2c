import { sentence } from "../api/client";
import type { Session } from "../api/shapes";
import type { House } from "../house";
import { toast } from "../parts/toasts";
import { count, titleOf } from "../words";

/** Puts conversations out of the way, or brings them back, and says so; it can be undone as long as that is shown. */
export async function archiveWithUndo(house: House, chosen: readonly Session[], archived: boolean): Promise<void> {
  const sessions = chosen.filter((session) => session.archived !== archived);
  const [first] = sessions;
  if (!first) {
    toast(archived ? "Archived already." : "Not archived.");
    return;
  }
  const what = sessions.length === 1 ? `“${titleOf(first, first.external_id)}”` : count(sessions.length, "conversation");
  try {
    await setArchived(house, sessions, archived);
    toast(archived ? `Archived ${what}: still remembered, and listed under “Archived”.` : `Unarchived ${what}.`, {
      seconds: 7,
      action: { label: "Undo", act: () => void setArchived(house, sessions, !archived).catch((error: unknown) => toast(sentence(error), { seconds: 10 })) },
    });
  } catch (error) {
    toast(sentence(error), { seconds: 10 });
  }
}

async function setArchived(house: House, sessions: readonly Session[], archived: boolean): Promise<void> {
  for (const session of sessions) await house.change(session.external_id, { archived });
}
