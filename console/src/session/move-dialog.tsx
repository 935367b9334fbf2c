import { useState } from "react";

import { sentence } from "../api/client";
import type { Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Dialog } from "../parts/dialog";
import { PlaceName } from "../parts/place";
import { toast } from "../parts/toasts";
import { inPlace, moveSentence, titleOf } from "../words";

interface Props {
  session: Session;
  /** Where it was dropped; undefined when it is still to be chosen. */
  to?: string | null | undefined;
  onClose: () => void;
}

/** Says what becomes visible where before anything moves. */
export function MoveDialog({ session, to, onClose }: Props) {
  const house = useHouse();
  const { projects, sessions } = useHouseState();
  const hasUsers = [...sessions.values()].some((each) => each.user_id !== null);
  const places = [...projects.map((project) => project.project_id), null].filter((place) => place !== session.project_id);
  const [chosen, setChosen] = useState(to === undefined ? places[0] : to);
  const [problem, setProblem] = useState<string | null>(null);
  const title = titleOf(session, session.external_id);
  const move = async () => {
    if (chosen === undefined) return;
    try {
      await house.change(session.external_id, { project_id: chosen });
      toast(`“${title}” is now ${inPlace(chosen, projects)}.`);
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title={`Move “${title}”`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void move();
        }}
      >
        <fieldset className="places-to-choose">
          <legend className="unseen">To</legend>
          {places.map((place) => (
            <label key={place ?? "none"}>
              <input type="radio" name="place" checked={chosen === place} onChange={() => setChosen(place)} />
              <PlaceName project={place} projects={projects} />
            </label>
          ))}
        </fieldset>
        {chosen !== undefined && <p className="consequence" role="status">{moveSentence(session, chosen, projects, hasUsers)}</p>}
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="primary" disabled={chosen === undefined}>Move</button>
        </div>
      </form>
    </Dialog>
  );
}
