import { useState } from "react";

import { sentence } from "../api/client";
import type { Session } from "../api/shapes";
import { useHouse } from "../house";
import { Dialog } from "../parts/dialog";

export function RenameDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const house = useHouse();
  const [title, setTitle] = useState(session.title ?? "");
  const [problem, setProblem] = useState<string | null>(null);
  const rename = async () => {
    try {
      await house.change(session.external_id, { title: title.trim() });
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title="Rename this conversation" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void rename();
        }}
      >
        <label className="field">
          <span>Title</span>
          <input value={title} maxLength={255} autoFocus dir="auto" onFocus={(event) => event.target.select()} onChange={(event) => setTitle(event.target.value)} />
        </label>
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="primary" disabled={!title.trim()}>Rename</button>
        </div>
      </form>
    </Dialog>
  );
}
