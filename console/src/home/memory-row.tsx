import { useState, type ReactNode } from "react";

import { sentence } from "../api/client";
import { changeMemory, restoreMemory, retractMemory } from "../api/memories";
import type { Memory } from "../api/shapes";
import { CorrectDialog } from "../chat/drawer/correct-dialog";
import { ForgetItem } from "../chat/drawer/forget-item";
import { useHouse } from "../house";
import { Icon } from "../parts/icon";
import { Menu, type Choice } from "../parts/menu";
import { Source } from "../parts/source";
import { toast } from "../parts/toasts";
import { pinnedSentence } from "../words";
import { When } from "../parts/when";
import { follow, go, userAddress } from "../router";
import { SourcesDialog } from "../memory/sources-dialog";
import { HistoryDialog } from "./history-dialog";

export const STATUS_WORDS: Record<string, string> = { superseded: "no longer true", retracted: "marked as untrue", expired: "past its date" };

/** One memory: its words, where it came from, and what can be done about it; every change but forgetting can be undone. */
export function MemoryRow({ memory, about, onChanged }: { memory: Memory; about?: ReactNode; onChanged: () => void }) {
  const house = useHouse();
  const [doing, setDoing] = useState<"correct" | "forget" | "history" | "sources" | null>(null);
  const attempt = async (act: () => Promise<unknown>, said: string, undo?: () => Promise<unknown>) => {
    try {
      await act();
      onChanged();
      toast(said, undo ? { seconds: 7, action: { label: "Undo", act: () => void attempt(undo, "Undone.") } } : {});
    } catch (error) {
      toast(sentence(error), { seconds: 10 });
    }
  };
  const [status, isPinned] = [memory.status ?? "active", memory.pinned ?? false];
  const undo = () => restoreMemory(memory.id);
  const history: Choice = { label: "History", icon: "retry", act: () => setDoing("history") };
  const choices: Choice[] = !house.mayWrite
    ? [history]
    : [
        { label: "Correct…", icon: "edit", act: () => setDoing("correct") },
        {
          label: isPinned ? "Unpin" : "Pin",
          icon: "pin",
          act: () => void attempt(() => changeMemory(memory.id, { pinned: !isPinned }), isPinned ? "Unpinned." : pinnedSentence(house.hasModel), undo),
        },
        history,
        status === "retracted"
          ? { label: "Restore", icon: "back", act: () => void attempt(undo, "Restored.") }
          : { label: "Mark as untrue", icon: "close", act: () => void attempt(() => retractMemory(memory.id), "Marked untrue: it’s no longer recalled.", undo) },
        { label: "Forget…", icon: "trash", grave: true, act: () => setDoing("forget") },
      ];
  const user = memory.user_id;
  const sources = memory.source_message_ids.length;
  return (
    <li data-status={status}>
      <div className="memory-line">
        <p className="statement" dir="auto">{memory.content}</p>
        <Menu label={`Options for “${memory.content.slice(0, 60)}”`} choices={choices} />
      </div>
      <footer>
        {isPinned && <span className="pinned"><Icon name="pin" />pinned</span>}
        {STATUS_WORDS[status] && <span className="kind">{STATUS_WORDS[status]}</span>}
        {memory.categories?.map((each) => <span key={each} className="kind">{each}</span>)}
        <Source session={memory.session_id} message={memory.source_message_ids[0] ?? null} />
        {user !== null && <a href={userAddress(user)} onClick={(event) => follow(event, () => go(userAddress(user)))}><bdi>{user}</bdi></a>}
        {about}
        <When moment={memory.created_at} />
        {sources > 0 ? (
          <button type="button" className="link" onClick={() => setDoing("sources")}>{sources === 1 ? "Source" : `${sources} sources`}</button>
        ) : (
          <span>written by hand</span>
        )}
      </footer>
      {doing === "correct" && <CorrectDialog item={memory} onDone={onChanged} onClose={() => setDoing(null)} />}
      {doing === "forget" && <ForgetItem item={{ id: memory.id, content: memory.content, kind: "memory" }} onDone={onChanged} onClose={() => setDoing(null)} />}
      {doing === "sources" && <SourcesDialog item={memory} onChanged={onChanged} onClose={() => setDoing(null)} />}
      {doing === "history" && <HistoryDialog memory={memory} onChanged={onChanged} onClose={() => setDoing(null)} />}
    </li>
  );
}
