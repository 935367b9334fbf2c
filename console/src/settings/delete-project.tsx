import { useState } from "react";

import { remove, sentence } from "../api/client";
import type { Project } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Dialog } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { count } from "../words";

/** Delete a project after saying what happens to its conversations. */
export function DeleteProject({ project, onDone, onClose }: { project: Project; onDone?: () => void; onClose: () => void }) {
  const house = useHouse();
  const sessions = [...useHouseState().sessions.values()].filter((session) => session.project_id === project.project_id).length;
  const [problem, setProblem] = useState<string | null>(null);
  const act = async () => {
    try {
      const moved = await remove<{ sessions_moved: number; memories_moved: number }>(`/org/projects/${project.project_id}`);
      toast(`Deleted ${project.name}; ${count(moved.sessions_moved, "conversation")} now in no project.`);
      await house.readAll();
      onClose();
      onDone?.();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title={`Delete ${project.name}`} onClose={onClose}>
      <p className="consequence">
        No conversation is deleted. Its {count(sessions, "conversation")} will be in no project: from then on, conversations of the same user that are in no project can recall them.
      </p>
      {problem && <p className="trouble" role="alert">{problem}</p>}
      <div className="actions">
        <button type="button" onClick={onClose} autoFocus>Cancel</button>
        <button type="button" className="grave" onClick={() => void act()}>Delete the project</button>
      </div>
    </Dialog>
  );
}
