import { useSyncExternalStore } from "react";

import { Icon } from "./icon";

interface Toast {
  id: number;
  text: string;
  action?: { label: string; act: () => void };
}

let toasts: readonly Toast[] = [];
let last = 0;
const watchers = new Set<() => void>();

/** A sentence in the corner, for a while; an action in it can be taken until it is gone. */
export function toast(text: string, options: { seconds?: number; action?: Toast["action"] } = {}): () => void {
  const id = (last += 1);
  become([...toasts, { id, text, ...(options.action ? { action: options.action } : {}) }]);
  const gone = () => become(toasts.filter((each) => each.id !== id));
  setTimeout(gone, (options.seconds ?? 5) * 1_000);
  return gone;
}

function become(next: readonly Toast[]): void {
  toasts = next;
  watchers.forEach((watcher) => watcher());
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, action }) => (
        <div key={id} className="toast">
          <span title={text}>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                action.act();
                become(toasts.filter((each) => each.id !== id));
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" className="quiet" aria-label="Dismiss" onClick={() => become(toasts.filter((each) => each.id !== id))}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
