import { Icon } from "../../parts/icon";
import type { Versions } from "../talk/branches";

interface Props {
  versions: Versions;
  locked: boolean;
  onChoose: (message: string) => void;
}

/** ‹ 2 / 3 ›: which version of a message is shown, and the way to the others. */
export function BranchPicker({ versions: { ids, index }, locked, onChoose }: Props) {
  const to = (next: number) => {
    const id = ids[next];
    if (id !== undefined) onChoose(id);
  };
  return (
    <span className="branches" role="group" aria-label="Versions">
      <button type="button" className="quiet" disabled={locked || index === 0} aria-label="Previous version" title="Previous version" onClick={() => to(index - 1)}>
        <Icon name="back" />
      </button>
      <span className="branch-number" aria-label={`Version ${index + 1} of ${ids.length}`}>{index + 1} / {ids.length}</span>
      <button type="button" className="quiet" disabled={locked || index === ids.length - 1} aria-label="Next version" title="Next version" onClick={() => to(index + 1)}>
        <Icon name="chevron" />
      </button>
    </span>
  );
}
