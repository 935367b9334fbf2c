import { useState } from "react";

import { post, sentence } from "../api/client";
import { addMemory } from "../api/memories";
import type { Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Dialog } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { titleOf } from "../words";

interface Props {
  project: string | null;
  user: string | null;
  onDone: () => void;
  onClose: () => void;
}

const NOTES = "Notes";

/** Write a memory by hand. It belongs to a conversation, as every memory does, and goes with it: by default to one for such notes alone. */
export function AddMemory({ project, user, onDone, onClose }: Props) {
  const house = useHouse();
  const { sessions } = useHouseState();
  const listed = [...sessions.values()]
    .filter((each) => each.project_id === project && each.user_id === user)
    .sort((one, other) => other.updated_at.localeCompare(one.updated_at));
  const [text, setText] = useState("");
  const [session, setSession] = useState(listed.find((each) => each.title === NOTES && !each.archived)?.external_id ?? "");
  const [problem, setProblem] = useState<string | null>(null);
  const save = async () => {
    try {
      let into = session;
      if (!into) {
        into = (await post<Session>("/v1/sessions", { project_id: project, title: NOTES, ...(user === null ? {} : { user_id: user }) })).external_id;
        setSession(into);
        await house.readSession(into);
      }
      const added = await addMemory(into, text.trim());
      toast(added.duplicates > 0 ? "This is remembered already." : "Remembered.");
      onDone();
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title="Add a memory" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label className="field">
          <span>Memory</span>
          <textarea rows={3} value={text} autoFocus dir="auto" maxLength={2_000} placeholder="The user is allergic to walnuts." onChange={(event) => setText(event.target.value)} />
        </label>
        <label className="field">
          <span>Belongs to</span>
          <select value={session} onChange={(event) => setSession(event.target.value)}>
            <option value="">a new conversation, “{NOTES}”</option>
            {listed.map((each) => <option key={each.external_id} value={each.external_id}>{titleOf(each, each.external_id)}</option>)}
          </select>
        </label>
        <p className="hint">Every memory belongs to a conversation: if that is deleted or moved, the memory goes with it.</p>
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="primary" disabled={!text.trim()}>Add</button>
        </div>
      </form>
    </Dialog>
  );
}
