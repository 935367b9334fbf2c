import { useState } from "react";

import type { Session } from "../api/shapes";
import { useHouse } from "../house";
import { Menu, type Choice } from "../parts/menu";
import { forgetWithUndo } from "./forget";
import { MoveDialog } from "./move-dialog";
import { RenameDialog } from "./rename-dialog";
import { tab } from "../tab";
import { go } from "../router";
import { titleOf } from "../words";

/** All that can be done with a conversation, by hand or by keyboard. */
export function SessionMenu({ session }: { session: Session }) {
  const house = useHouse();
  const [doing, setDoing] = useState<"rename" | "move" | null>(null);
  const title = titleOf(session, session.external_id);
  const choices: Choice[] = [
    {
      label: "What is kept of it",
      icon: "leaf",
      act: () => {
        tab.open(session.external_id);
        go("/memory");
      },
    },
  ];
  if (house.mayWrite) {
    choices.unshift({ label: "Rename", icon: "edit", act: () => setDoing("rename") });
    if (!house.me.confined) choices.splice(1, 0, { label: "Move…", icon: "move", act: () => setDoing("move") });
    choices.push({ label: "Delete", icon: "trash", grave: true, act: () => forgetWithUndo(house, session) });
  }
  return (
    <>
      <Menu label={`What to do with “${title}”`} choices={choices} />
      {doing === "rename" && <RenameDialog session={session} onClose={() => setDoing(null)} />}
      {doing === "move" && <MoveDialog session={session} onClose={() => setDoing(null)} />}
    </>
  );
}
