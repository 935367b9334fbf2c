import { memo, type KeyboardEvent } from "react";

import type { Session } from "../api/shapes";
import { useHouse } from "../house";
import { Icon } from "../parts/icon";
import { When } from "../parts/when";
import { chatAddress, follow } from "../router";
import { forgetWithUndo } from "../session/forget";
import { SessionMenu } from "../session/session-menu";
import { titleOf } from "../words";

export const DRAGGED = "application/x-cloister-session";

/** What the rows of the sidebar need to know besides their own conversation. */
export interface RowState {
  current: string | null;
  elsewhere: ReadonlySet<string>;
  turns: ReadonlySet<string>;
  /** The chosen ones, while conversations are being chosen; else null. */
  selected: ReadonlySet<string> | null;
  onOpen: (id: string) => void;
  onSelect: (id: string) => void;
}

export function SessionRow({ session, rows }: { session: Session; rows: RowState }) {
  const id = session.external_id;
  return (
    <Row
      session={session}
      current={rows.current === id}
      elsewhere={rows.elsewhere.has(id)}
      writing={rows.turns.has(id)}
      selected={rows.selected === null ? null : rows.selected.has(id)}
      onOpen={rows.onOpen}
      onSelect={rows.onSelect}
    />
  );
}

interface Props {
  session: Session;
  current: boolean;
  elsewhere: boolean;
  writing: boolean;
  selected: boolean | null;
  onOpen: (id: string) => void;
  onSelect: (id: string) => void;
}

const Row = memo(function Row({ session, current, elsewhere, writing, selected, onOpen, onSelect }: Props) {
  const house = useHouse();
  const id = session.external_id;
  const title = titleOf(session, id);
  if (selected !== null) {
    return (
      <li className="session-row">
        <label className="session-link">
          <input type="checkbox" checked={selected} onChange={() => onSelect(id)} />
          <bdi className="session-title" title={title}>{title}</bdi>
          <When moment={session.updated_at} />
        </label>
      </li>
    );
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === "Delete" && house.mayWrite) forgetWithUndo(house, session);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const rows = [...document.querySelectorAll<HTMLElement>("a.session-link")];
    rows[rows.indexOf(event.currentTarget as HTMLElement) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  };
  return (
    <li className={current ? "session-row current" : "session-row"}>
      <a
        className="session-link"
        href={chatAddress(id)}
        aria-current={current ? "page" : undefined}
        draggable={house.mayWrite && !house.me.confined}
        onClick={(event) => follow(event, () => onOpen(id))}
        onKeyDown={press}
        onDragStart={(event) => {
          event.dataTransfer.setData(DRAGGED, id);
          event.dataTransfer.effectAllowed = "move";
        }}
      >
        <bdi className="session-title" title={title}>{title}</bdi>
        {writing && <span className="dot" title="A reply is being written"><span className="unseen">A reply is being written</span></span>}
        {elsewhere && (
          <span className="tab-mark" title="Open in another tab">
            <Icon name="tabs" />
            <span className="unseen">Open in another tab</span>
          </span>
        )}
        <When moment={session.updated_at} />
      </a>
      <SessionMenu session={session} />
    </li>
  );
});
