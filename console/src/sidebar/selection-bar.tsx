import { useHouse, useHouseState } from "../house";
import { archiveWithUndo } from "../session/archive";
import { forgetAllWithUndo } from "../session/forget";

interface Props {
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  onDone: () => void;
}

/** What can be done with the conversations that were chosen. */
export function SelectionBar({ selected, onSelect, onDone }: Props) {
  const house = useHouse();
  const { sessions, leaving } = useHouseState();
  const chosen = [...selected].flatMap((id) => sessions.get(id) ?? []);
  const listed = [...sessions.values()].filter((each) => !each.archived && !leaving.has(each.external_id)).map((each) => each.external_id);
  const hasAll = listed.length > 0 && listed.every((id) => selected.has(id));
  const act = (what: () => unknown) => {
    onDone();
    what();
  };
  return (
    <div className="selection" role="toolbar" aria-label="Selected conversations">
      <span role="status">{chosen.length.toLocaleString()} selected</span>
      <button type="button" disabled={listed.length === 0} onClick={() => onSelect(new Set(hasAll ? [] : listed))}>{hasAll ? "Select none" : "Select all"}</button>
      <div className="selection-acts">
        <button type="button" disabled={chosen.length === 0} onClick={() => act(() => archiveWithUndo(house, chosen, true))}>Archive</button>
        <button type="button" className="grave" disabled={chosen.length === 0} onClick={() => act(() => forgetAllWithUndo(house, chosen))}>Delete</button>
        <button type="button" onClick={onDone}>Cancel</button>
      </div>
    </div>
  );
}
