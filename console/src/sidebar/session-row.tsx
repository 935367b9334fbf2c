import type { KeyboardEvent } from "react";

import type { Session } from "../api/shapes";
import { useHouse } from "../house";
import { Icon } from "../parts/icon";
import { follow } from "../router";
import { ago, titleOf } from "../words";
import { forgetWithUndo } from "./forget";
import { SessionMenu } from "./session-menu";

export const DRAGGED = "application/x-cloister-session";

interface Props {
  session: Session;
  current: boolean;
  elsewhere: boolean;
  writing: boolean;
  onOpen: (id: string) => void;
}

export function SessionRow({ session, current, elsewhere, writing, onOpen }: Props) {
  const house = useHouse();
  const id = session.external_id;
  const press = (event: KeyboardEvent) => {
    if (event.key === "Delete" && house.mayWrite) forgetWithUndo(house, session);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const rows = [...document.querySelectorAll<HTMLElement>(".session-link")];
    rows[rows.indexOf(event.currentTarget as HTMLElement) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  };
  return (
    <li className={current ? "session-row current" : "session-row"}>
      <a
        className="session-link"
        href={`/?session=${encodeURIComponent(id)}`}
        aria-current={current ? "page" : undefined}
        draggable={house.mayWrite && !house.me.confined}
        onClick={(event) => follow(event, () => onOpen(id))}
        onKeyDown={press}
        onDragStart={(event) => {
          event.dataTransfer.setData(DRAGGED, id);
          event.dataTransfer.effectAllowed = "move";
        }}
      >
        <span className="session-title">{titleOf(session, id)}</span>
        {writing && <span className="dot" title="A reply is being written"><span className="unseen">A reply is being written</span></span>}
        {elsewhere && (
          <span className="tab-mark" title="Open in another tab">
            <Icon name="tabs" />
            <span className="unseen">Open in another tab</span>
          </span>
        )}
        <time dateTime={session.updated_at}>{ago(session.updated_at)}</time>
      </a>
      <SessionMenu session={session} />
    </li>
  );
}
