import type { Project, SignedIn } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Mark } from "../parts/icon";
import { PlacePicker } from "../parts/place";
import { follow, go } from "../router";
import { tab } from "../tab";
import { placeHint, recallSentence } from "../words";

/** What is shown where nothing was said yet: which project it is in, and what that means. */
export function EmptyChat({ place, isNew }: { place: string | null; isNew: boolean }) {
  const house = useHouse();
  const { projects, sessions } = useHouseState();
  const hasUsers = [...sessions.values()].some((each) => each.project_id === place && each.user_id !== null);
  return (
    <div className="threshold">
      <Mark />
      {isNew ? (
        <>
          <p className="threshold-words">This conversation stays in</p>
          <PlacePicker value={place} projects={projects} label="Project of this conversation" onChange={(to) => tab.choose(to)} shared={!house.me.confined} />
        </>
      ) : (
        <p className="threshold-words">No messages yet</p>
      )}
      <p className="hint">{recallSentence(place, projects, hasUsers)}</p>
      {isNew && <p className="hint">{placeHint(place)}</p>}
      {sessions.size === 0 && (
        <p className="hint">
          <a href="/start" onClick={(event) => follow(event, () => go("/start"))}>New here? See how it works</a>
        </p>
      )}
    </div>
  );
}

/** Where a conversation was, or never was. */
export function Nothing({ said, onRetry }: { said: string; onRetry?: () => void }) {
  return (
    <div className="threshold">
      <p>{said}</p>
      {onRetry && <button type="button" className="primary" onClick={onRetry}>Try again</button>}
      <button type="button" className={onRetry ? undefined : "primary"} onClick={() => tab.begin()}>New chat</button>
    </div>
  );
}

/** The project that was chosen, if it still exists; else the key's own project, else the default one. */
export function placeOfNew(
  chosen: string | null | undefined,
  me: Pick<SignedIn, "project_id" | "confined">,
  projects: readonly Pick<Project, "project_id" | "is_default">[],
): string | null {
  if (me.confined) return me.project_id;
  if (chosen === null) return null;
  if (projects.some((project) => project.project_id === chosen)) return chosen ?? null;
  return me.project_id ?? projects.find((project) => project.is_default)?.project_id ?? null;
}
