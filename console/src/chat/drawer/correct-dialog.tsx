import { useState } from "react";

import { sentence } from "../../api/client";
import { changeMemory } from "../../api/memories";
import type { ReceiptItem } from "../../api/receipts";
import { Dialog } from "../../parts/dialog";
import { toast } from "../../parts/toasts";

/** Say what is true instead. The old words stay in the history of the memory. */
export function CorrectDialog({ item, onDone, onClose }: { item: Pick<ReceiptItem, "id" | "content">; onDone: () => void; onClose: () => void }) {
  const [text, setText] = useState(item.content ?? "");
  const [problem, setProblem] = useState<string | null>(null);
  const save = async () => {
    try {
      await changeMemory(item.id, { content: text.trim() });
      toast("Corrected. Replies from now on get the new words.");
      onDone();
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title="Correct this memory" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label className="field">
          <span>Memory</span>
          <textarea rows={4} value={text} autoFocus dir="auto" onChange={(event) => setText(event.target.value)} />
        </label>
        <p className="hint">The old version stays in the memory’s history.</p>
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="primary" disabled={!text.trim() || text.trim() === item.content}>Save</button>
        </div>
      </form>
    </Dialog>
  );
}
