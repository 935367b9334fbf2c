import { useState } from "react";

import type { Session } from "../api/shapes";
import { sentence } from "../api/client";
import { useHouse, type House } from "../house";
import { Menu, type Choice } from "../parts/menu";
import { toast } from "../parts/toasts";
import { go } from "../router";
import { tab } from "../tab";
import { titleOf } from "../words";
import { exportSession } from "./export";
import { archiveWithUndo } from "./archive";
import { forgetWithUndo } from "./forget";
import { MoveDialog } from "./move-dialog";
import { RenameDialog } from "./rename-dialog";
import { SetupDialog } from "./setup-dialog";

type Doing = "rename" | "move" | "setup";

/** All that can be done with a conversation, by hand or by keyboard. */
export function SessionMenu({ session }: { session: Session }) {
  const house = useHouse();
  const [doing, setDoing] = useState<Doing | null>(null);
  const title = titleOf(session, session.external_id);
  const close = () => setDoing(null);
  return (
    <>
      <Menu label={`Options for “${title}”`} choices={choicesOf(house, session, setDoing)} />
      {doing === "rename" && <RenameDialog session={session} onClose={close} />}
      {doing === "move" && <MoveDialog session={session} onClose={close} />}
      {doing === "setup" && <SetupDialog id={session.external_id} session={session} project={session.project_id} onClose={close} />}
    </>
  );
}

function choicesOf(house: House, session: Session, setDoing: (what: Doing) => void): Choice[] {
  const id = session.external_id;
  const change = (fields: Parameters<House["change"]>[1]) => void house.change(id, fields).catch((error: unknown) => toast(sentence(error)));
  const look = () => {
    tab.select(id);
    go("/memory");
  };
  const reading: Choice[] = [
    { label: "View memories", icon: "leaf", act: look },
    { label: "Export as Markdown", icon: "export", act: () => void exportSession(session, "markdown") },
    { label: "Export as JSON", icon: "export", act: () => void exportSession(session, "json") },
  ];
  if (!house.mayWrite) return reading;
  return [
    { label: session.pinned ? "Unpin" : "Pin", icon: "pin", act: () => change({ pinned: !session.pinned }) },
    { label: "Rename", icon: "edit", act: () => setDoing("rename") },
    ...(house.me.confined ? [] : [{ label: "Move…", icon: "move" as const, act: () => setDoing("move") }]),
    { label: "Model and prompt…", icon: "gear", act: () => setDoing("setup") },
    ...reading,
    { label: session.archived ? "Unarchive" : "Archive", icon: "archive", act: () => void archiveWithUndo(house, [session], !session.archived) },
    { label: "Delete", icon: "trash", grave: true, act: () => forgetWithUndo(house, session) },
  ];
}
