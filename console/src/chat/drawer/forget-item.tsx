import { useState } from "react";

import { remove, sentence } from "../../api/client";
import { forgetMemory } from "../../api/memories";
import type { ReceiptItem } from "../../api/receipts";
import { Dialog } from "../../parts/dialog";
import { toast } from "../../parts/toasts";

/** Delete a message or a memory for good, after saying what goes with it. */
export function ForgetItem({ item, onDone, onClose }: { item: Pick<ReceiptItem, "id" | "content" | "kind">; onDone: () => void; onClose: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const isMemory = item.kind === "memory";
  const forget = async () => {
    try {
      await (isMemory ? forgetMemory(item.id) : remove(`/v1/messages/${item.id}`));
      toast("Forgotten.");
      onDone();
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title={isMemory ? "Forget this memory?" : "Forget this message?"} onClose={onClose}>
      <blockquote className="statement" dir="auto">{item.content}</blockquote>
      <p className="hint">{isMemory ? "The messages it came from stay, and are not read for memories again." : "It is deleted from its conversation, with every memory that came only from it."} This can’t be undone.</p>
      {problem && <p className="trouble" role="alert">{problem}</p>}
      <div className="actions">
        <button type="button" onClick={onClose} autoFocus>Cancel</button>
        <button type="button" className="grave" onClick={() => void forget()}>Forget</button>
      </div>
    </Dialog>
  );
}
