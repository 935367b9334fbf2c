/** Conversations under the days of their last message, as a reader counts days. */

import type { Session } from "../api/shapes";

export interface DateGroup {
  label: string;
  sessions: Session[];
}

const DAY = 86_400_000;

/** Newest first; `sessions` must be in that order. */
export function byDate(sessions: readonly Session[], now = Date.now()): DateGroup[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const groups: DateGroup[] = [];
  for (const session of sessions) {
    const label = labelOf(Date.parse(session.updated_at), midnight);
    const last = groups.at(-1);
    if (last?.label === label) last.sessions.push(session);
    else groups.push({ label, sessions: [session] });
  }
  return groups;
}

function labelOf(moment: number, midnight: number): string {
  if (moment >= midnight) return "Today";
  if (moment >= midnight - DAY) return "Yesterday";
  if (moment >= midnight - 7 * DAY) return "Previous 7 days";
  if (moment >= midnight - 30 * DAY) return "Previous 30 days";
  return new Date(moment).toLocaleDateString(undefined, { month: "long", year: "numeric" });
}

/** Newest first. Times are text that sorts as it counts. */
export function newestFirst(sessions: Iterable<Session>): Session[] {
  return [...sessions].sort((one, other) => (one.updated_at < other.updated_at ? 1 : one.updated_at > other.updated_at ? -1 : 0));
}
