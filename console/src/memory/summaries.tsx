import { useState } from "react";

import type { Observation } from "../api/shapes";
import { When } from "../parts/when";
import { SourcesDialog } from "./sources-dialog";

/** Summaries as a list: each with where it came from. */
export function Summaries({ summaries, onChanged }: { summaries: readonly Observation[]; onChanged: () => void }) {
  const [looking, setLooking] = useState<Observation | null>(null);
  if (summaries.length === 0) return <p className="empty">No summaries yet.</p>;
  return (
    <>
      <ul className="kept" aria-label="Summaries">
        {summaries.map((item) => (
          <li key={item.id}>
            <p className="statement" dir="auto">{item.content}</p>
            <footer>
              <When moment={item.created_at} />
              <span className="actions">
                <button type="button" className="link" onClick={() => setLooking(item)}>
                  {item.source_message_ids.length === 1 ? "Source" : `${item.source_message_ids.length} sources`}
                </button>
              </span>
            </footer>
          </li>
        ))}
      </ul>
      {looking && <SourcesDialog item={looking} onChanged={onChanged} onClose={() => setLooking(null)} />}
    </>
  );
}
