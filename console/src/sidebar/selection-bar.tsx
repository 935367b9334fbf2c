import { sentence } from "../api/client";
import { useHouse, useHouseState } from "../house";
import { toast } from "../parts/toasts";
import { forgetAllWithUndo } from "../session/forget";
import { count } from "../words";

/** What can be done with the conversations that were chosen. */
export function SelectionBar({ selected, onDone }: { selected: ReadonlySet<string>; onDone: () => void }) {
  const house = useHouse();
  const { sessions } = useHouseState();
  const chosen = [...selected].flatMap((id) => sessions.get(id) ?? []);
  const archive = async () => {
    onDone();
    try {
      for (const session of chosen) await house.change(session.external_id, { archived: true });
      toast(`Archived ${count(chosen.length, "conversation")}.`);
    } catch (error) {
      toast(sentence(error), { seconds: 10 });
    }
  };
  const forget = () => {
    onDone();
    forgetAllWithUndo(house, chosen);
  };
  return (
    <div className="selection" role="toolbar" aria-label="Selected conversations">
      <span role="status">{chosen.length.toLocaleString()} selected</span>
      <button type="button" disabled={chosen.length === 0} onClick={() => void archive()}>Archive</button>
      <button type="button" className="grave" disabled={chosen.length === 0} onClick={forget}>Delete</button>
      <button type="button" onClick={onDone}>Cancel</button>
    </div>
  );
}
