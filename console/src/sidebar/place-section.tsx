import { memo, useState, type DragEvent } from "react";

import type { Session } from "../api/shapes";
import { useHouseState } from "../house";
import { Icon } from "../parts/icon";
import { PlaceName } from "../parts/place";
import { follow, go, projectAddress, useRoute } from "../router";
import { count, placeHint, placeName } from "../words";
import { byDate } from "./groups";
import { DRAGGED, SessionRow, type RowState } from "./session-row";

const SHOWN_AT_FIRST = 12;
const SHOWN_MORE = 100;

interface Props {
  place: string | null;
  sessions: Session[];
  /** How many more are listed elsewhere in the sidebar: pinned or archived. */
  others: number;
  rows: RowState;
  onBegin: (place: string | null) => void;
  onDrop: (id: string, place: string | null) => void;
  onLeave: () => void;
}

/** The conversations of one project, or of none. */
export const PlaceSection = memo(function PlaceSection({ place, sessions, others, rows, onBegin, onDrop, onLeave }: Props) {
  const { projects } = useHouseState();
  const [folded, setFolded] = useState(false);
  const [most, setMost] = useState(SHOWN_AT_FIRST);
  const [over, setOver] = useState(0);
  const name = placeName(place, projects);
  const address = projectAddress(place);
  const whole = projectAddress(place, "conversations");
  const route = useRoute();
  const isShown = route.page === "project" && route.project === place;
  const isOurs = (event: DragEvent) => event.dataTransfer.types.includes(DRAGGED);
  return (
    <section
      className={over > 0 ? "place-section over" : "place-section"}
      aria-label={name}
      onDragEnter={(event) => isOurs(event) && setOver((depth) => depth + 1)}
      onDragLeave={(event) => isOurs(event) && setOver((depth) => depth - 1)}
      onDragOver={(event) => isOurs(event) && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        setOver(0);
        onDrop(event.dataTransfer.getData(DRAGGED), place);
      }}
    >
      <header title={placeHint(place)}>
        <button type="button" className="quiet fold" aria-expanded={!folded} aria-label={`${folded ? "Show" : "Hide"} the conversations of ${name}`} onClick={() => setFolded(!folded)}>
          <Icon name="chevron" />
        </button>
        <a className="place-home" href={address} aria-current={isShown ? "page" : undefined} onClick={(event) => follow(event, () => { go(address); onLeave(); })}>
          <PlaceName project={place} projects={projects} />
          <span className="number">{sessions.length.toLocaleString()}</span>
        </a>
        <button type="button" className="quiet" aria-label={`New chat in ${name}`} title={`New chat in ${name}`} onClick={() => onBegin(place)}>
          <Icon name="plus" />
        </button>
      </header>
      {over > 0 && <p className="hint">Drop it here. You’ll see what becomes visible before it moves.</p>}
      {!folded && <Rows sessions={sessions.slice(0, most)} rows={rows} />}
      {!folded && sessions.length === 0 && <p className="nobody">{others === 0 ? "No conversations yet" : <>All pinned or archived: <a href={whole} onClick={(event) => follow(event, () => { go(whole); onLeave(); })}>{count(others, "conversation")}</a></>}</p>}
      {!folded && sessions.length > most && (
        <button type="button" className="more-rows" onClick={() => setMost(most + SHOWN_MORE)}>{(sessions.length - most).toLocaleString()} more</button>
      )}
    </section>
  );
});

/** Rows under the names of their days. */
export function Rows({ sessions, rows }: { sessions: Session[]; rows: RowState }) {
  return byDate(sessions).map((group) => (
    <div key={group.label} className="day-group">
      <h3 className="day">{group.label}</h3>
      <ul>
        {group.sessions.map((session) => <SessionRow key={session.external_id} session={session} rows={rows} />)}
      </ul>
    </div>
  ));
}
