import { useState } from "react";

import { sentence } from "../../api/client";
import { changeMemory } from "../../api/memories";
import type { ReceiptItem } from "../../api/receipts";
import { exclude, include } from "../../api/sessions";
import { useHouse } from "../../house";
import { Menu, type Choice } from "../../parts/menu";
import { Source } from "../../parts/source";
import { toast } from "../../parts/toasts";
import { When } from "../../parts/when";
import { pinnedSentence } from "../../words";
import { CorrectDialog } from "./correct-dialog";
import { ForgetItem } from "./forget-item";

interface Props {
  item: ReceiptItem;
  session: string;
  onChanged: () => void;
  /** Called when the link to where it was said is followed. */
  onLeave?: () => void;
}

/** One thing that was recalled: its words, where and when it was said, and what can be done about it. */
export function Card({ item, session, onChanged, onLeave }: Props) {
  const [doing, setDoing] = useState<"correct" | "forget" | null>(null);
  const [isOpen, setOpen] = useState(false);
  const choices = useChoices(item, session, setDoing, onChanged);
  const words = item.content ?? "";
  return (
    <li className="recalled-card" data-strength={item.strength ?? "none"}>
      <blockquote className={isOpen ? "open" : undefined} dir="auto">{words}</blockquote>
      {words.length > 240 && <button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{isOpen ? "Less" : "More"}</button>}
      {item.is_changed && <p className="hint">{item.kind === "memory" ? "Corrected since" : "Changed since"}: the model was given other words.</p>}
      <footer>
        {item.session_id && <Source session={item.session_id} message={item.kind === "message" ? item.id : (item.source_message_ids[0] ?? null)} {...(onLeave ? { onLeave } : {})} />}
        <span className="kind">{kindOf(item)}</span>
        {item.created_at && <When moment={item.created_at} />}
        {choices.length > 0 && <Menu label="Actions" choices={choices} />}
      </footer>
      {doing === "correct" && <CorrectDialog item={item} onDone={onChanged} onClose={() => setDoing(null)} />}
      {doing === "forget" && <ForgetItem item={item} onDone={onChanged} onClose={() => setDoing(null)} />}
    </li>
  );
}

/** An author is somebody's choice of a name, so what no user said is called a reply. */
function kindOf(item: ReceiptItem): string {
  if (item.kind === "memory") return "memory";
  if (item.kind === "observation") return "summary";
  if (item.kind === "entity") return "entity";
  if (item.role === "assistant") return item.author ? `reply of ${item.author}` : "reply";
  return item.author ?? item.user_id ?? "you";
}

function useChoices(item: ReceiptItem, session: string, setDoing: (what: "correct" | "forget") => void, onChanged: () => void): Choice[] {
  const house = useHouse();
  if (!house.mayWrite || item.kind === "observation") return [];
  const attempt = async (act: () => Promise<unknown>, said: string, undo?: () => Promise<unknown>) => {
    try {
      await act();
      onChanged();
      toast(said, undo ? { seconds: 7, action: { label: "Undo", act: () => void attempt(undo, "Undone.") } } : {});
    } catch (error) {
      toast(sentence(error), { seconds: 10 });
    }
  };
  const kind = item.kind;
  const hide: Choice = {
    label: "Not relevant here",
    icon: "close",
    act: () => void attempt(() => exclude(session, kind, item.id), "This chat no longer recalls it.", () => include(session, item.id)),
  };
  // An entity is deleted where its relations are seen: in the home of its project.
  if (kind === "entity") return [hide];
  const choices: Choice[] = [hide, { label: "Forget…", icon: "trash", grave: true, act: () => setDoing("forget") }];
  if (kind !== "memory") return choices;
  const isPinned = item.pinned ?? false;
  return [
    { label: "Correct…", icon: "edit", act: () => setDoing("correct") },
    {
      label: isPinned ? "Unpin" : "Pin",
      icon: "pin",
      act: () => void attempt(() => changeMemory(item.id, { pinned: !isPinned }), isPinned ? "Unpinned." : pinnedSentence(house.hasModel), () => changeMemory(item.id, { pinned: isPinned })),
    },
    ...choices,
  ];
}
