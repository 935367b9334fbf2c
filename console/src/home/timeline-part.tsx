import type { ReactNode } from "react";

import type { TimelineEntry } from "../api/memories";
import { Source } from "../parts/source";
import { usePages } from "../parts/use-pages";
import { When } from "../parts/when";

const KINDS: Record<TimelineEntry["kind"], string> = {
  learnt: "Learned",
  superseded: "Changed",
  corrected: "Corrected",
  changed: "Pin or details changed",
  retracted: "Marked untrue",
  restored: "Undone",
};

/** What was learned and what changed, newest first. */
export function TimelinePart({ path, whose }: { path: string; whose?: ReactNode }) {
  const timeline = usePages<TimelineEntry>(path);
  return (
    <>
      <p className="hint">What was learned, and what changed. What was forgotten is not listed.</p>
      {whose && <div className="toolbar">{whose}</div>}
      {timeline.problem && <p className="trouble" role="alert">{timeline.problem}</p>}
      {timeline.items?.length === 0 && !timeline.problem && <p className="empty">Nothing was learned here yet.</p>}
      <ol className="timeline" aria-label="Timeline">
        {timeline.items?.map((entry, at) => <Entry key={`${entry.memory.id} ${entry.at} ${at}`} entry={entry} />)}
      </ol>
      {timeline.hasMore && <p><button type="button" onClick={timeline.more}>Show more</button></p>}
    </>
  );
}

function Entry({ entry }: { entry: TimelineEntry }) {
  const { kind, memory, before, after } = entry;
  return (
    <li data-kind={kind}>
      <p className="statement">
        {before !== null && (
          <>
            <span className="before" dir="auto">{before}</span> <span className="arrow" aria-label="became">→</span>{" "}
          </>
        )}
        <span dir="auto">{after ?? memory.content}</span>
      </p>
      <footer>
        <span>{KINDS[kind]}{entry.undone_at ? ", then undone" : ""}</span>
        <Source session={memory.session_id} message={memory.source_message_ids[0] ?? null} />
        <When moment={entry.at} />
      </footer>
    </li>
  );
}
