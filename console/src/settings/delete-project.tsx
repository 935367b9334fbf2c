import { useState } from "react";

import { sentence } from "../api/client";
import { deleteProject } from "../api/organisation";
import type { Project } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Dialog } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { count } from "../words";

type Contents = "keep" | "delete";

/** Delete a project in one of two ways, after saying what happens to its conversations. */
export function DeleteProject({ project, onDone, onClose }: { project: Project; onDone?: () => void; onClose: () => void }) {
  const house = useHouse();
  const everywhere = [...useHouseState().sessions.values()];
  const sessions = everywhere.filter((session) => session.project_id === project.project_id).length;
  const hasUsers = everywhere.some((session) => session.user_id !== null);
  const [contents, setContents] = useState<Contents>("keep");
  const [typed, setTyped] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isConfirmed = contents === "keep" || typed.trim() === project.name.trim();
  const act = async () => {
    if (!isConfirmed || isBusy) return;
    setIsBusy(true);
    try {
      const done = await deleteProject(project.project_id, contents);
      toast(
        done.deleted
          ? `Deleted ${project.name} with ${count(done.deleted.sessions, "conversation")}.`
          : `Deleted ${project.name}; ${count(done.sessions_moved, "conversation")} now in no project.`,
      );
      await house.readAll();
      onClose();
      onDone?.();
    } catch (error) {
      setProblem(sentence(error));
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={`Delete ${project.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act();
        }}
      >
        <fieldset className="field">
          <legend>Its conversations and memories</legend>
          <label><input type="radio" name="contents" checked={contents === "keep"} onChange={() => setContents("keep")} /> keep them, in no project</label>
          <label><input type="radio" name="contents" checked={contents === "delete"} onChange={() => setContents("delete")} /> delete them for good</label>
        </fieldset>
        {contents === "keep" ? (
          <p className="consequence">
            Nothing is lost: {count(sessions, "conversation")} will be in no project, and other chats {hasUsers ? "of the same user " : ""}there can recall what was said.
          </p>
        ) : (
          <>
            <Going project={project} />
            <label className="field">
              <span>Type <b dir="auto">{project.name}</b> to confirm</span>
              <input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" spellCheck={false} dir="auto" />
            </label>
          </>
        )}
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className={contents === "delete" ? "actions below" : "actions"}>
          <button type="button" onClick={onClose} autoFocus>Cancel</button>
          <button type="submit" className="grave" disabled={!isConfirmed || isBusy}>
            {contents === "keep" ? "Delete the project" : "Delete the project and everything in it"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What would be deleted, as the server counts it now. */
function Going({ project }: { project: Project }) {
  const { answer, problem } = useAnswer(project.project_id, (id) => deleteProject(id, "delete", true));
  if (problem) return <p className="trouble" role="alert">{problem}</p>;
  if (!answer?.deleted) return <p className="consequence">Counting…</p>;
  const { sessions, messages, memories, entities, files, entries } = answer.deleted;
  return (
    <div className="consequence final">
      <p>This is deleted for good:</p>
      <ul className="going">
        <li>{count(sessions, "conversation")} with {count(messages, "message")}</li>
        <li>{count(memories, "memory", "memories")} and {count(entities, "entity", "entities")}</li>
        {files > 0 && <li>{count(files, "file")}</li>}
        {entries > 0 && <li>{count(entries, "stored entry", "stored entries")}</li>}
        <li>the project’s name and settings</li>
      </ul>
      <p>This can’t be undone. Other projects are not changed.</p>
    </div>
  );
}
