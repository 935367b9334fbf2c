/** Memories and notes as a list: each with where it came from, and a way to forget it. */

import { useState, type ReactNode } from "react";

import type { Memory, Observation } from "../api/shapes";
import { Icon } from "../parts/icon";
import { When } from "../parts/when";
import { SourcesDialog } from "./sources-dialog";

interface Props<T> {
  kept: readonly T[];
  empty: string;
  about?: (item: T) => ReactNode;
  onForget?: (item: T) => void;
  onChanged: () => void;
}

export function Kept<T extends Memory | Observation>({ kept, empty, about, onForget, onChanged }: Props<T>) {
  const [looking, setLooking] = useState<T | null>(null);
  if (kept.length === 0) return <p className="empty">{empty}</p>;
  return (
    <>
      <ul className="kept">
        {kept.map((item) => (
          <li key={item.id}>
            <p className="statement" dir="auto">{item.content}</p>
            <footer>
              <When moment={item.created_at} />
              {about?.(item)}
              <span className="actions">
                {item.source_message_ids.length > 0 ? (
                  <button type="button" className="link" onClick={() => setLooking(item)}>
                    {item.source_message_ids.length === 1 ? "Source" : `${item.source_message_ids.length} sources`}
                  </button>
                ) : (
                  <span className="hint">written by hand</span>
                )}
                {onForget && (
                  <button type="button" className="quiet" onClick={() => onForget(item)} aria-label="Forget" title="Forget">
                    <Icon name="trash" />
                  </button>
                )}
              </span>
            </footer>
          </li>
        ))}
      </ul>
      {looking && <SourcesDialog item={looking} onChanged={onChanged} onClose={() => setLooking(null)} />}
    </>
  );
}
