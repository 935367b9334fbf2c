import { sentence } from "../api/client";
import { memoryHistory, restoreMemory, type MemoryRevision } from "../api/memories";
import type { Memory } from "../api/shapes";
import { useHouse } from "../house";
import { Dialog } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { When } from "../parts/when";

const ACTIONS: Record<Exclude<MemoryRevision["action"], "correct">, string> = { create: "Learned", retract: "Marked untrue", restore: "Undone" };

/** What a change was; `after`: how it left the memory. */
export function changeName({ action, before }: MemoryRevision, after: { content: string; pinned: boolean }): string {
  if (action !== "correct") return ACTIONS[action];
  if (before === null || before.content !== after.content) return "Corrected";
  if (before.pinned !== after.pinned) return after.pinned ? "Pinned" : "Unpinned";
  return "Details changed";
}

/** What people changed of a memory, newest first; the last change can be undone for a day. */
export function HistoryDialog({ memory, onChanged, onClose }: { memory: Memory; onChanged: () => void; onClose: () => void }) {
  const house = useHouse();
  const history = useAnswer(memory.id, (id, signal) => memoryHistory(id, signal));
  const changes = history.answer ?? [];
  const canUndo = changes.some((each) => each.action !== "create" && each.action !== "restore" && each.undone_at === null);
  const now = { content: memory.content, pinned: memory.pinned ?? false };
  const undo = async () => {
    try {
      await restoreMemory(memory.id);
      toast("Undone.");
      onChanged();
      onClose();
    } catch (error) {
      toast(sentence(error), { seconds: 10 });
    }
  };
  return (
    <Dialog title="History" onClose={onClose}>
      <blockquote className="statement" dir="auto">{memory.content}</blockquote>
      {history.problem && <p className="trouble" role="alert">{history.problem}</p>}
      <ul className="kept">
        {changes.map((change, at) => ({ change, after: changes[at + 1]?.before ?? now })).toReversed().map(({ change, after }, at) => (
          <li key={at}>
            {change.before && change.before.content !== after.content && <p dir="auto"><span className="hint">Before: </span>{change.before.content}</p>}
            <footer>
              <span>{changeName(change, after)}{change.undone_at ? ", then undone" : ""}</span>
              <span>{change.changed_by === "extraction" ? "from a chat" : change.changed_by === "import" ? "imported" : "by hand"}</span>
              <When moment={change.changed_at} />
            </footer>
          </li>
        ))}
      </ul>
      <div className="actions">
        <button type="button" onClick={onClose} autoFocus>Close</button>
        {house.mayWrite && canUndo && <button type="button" onClick={() => void undo()}>Undo the last change</button>}
      </div>
    </Dialog>
  );
}
