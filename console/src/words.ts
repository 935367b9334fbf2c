/** Plain sentences: what a place recalls, what a move does, when something was said. */

import type { Project, Session } from "./api/shapes";

export const SHARED_POOL = "the shared pool";

export function placeName(project: string | null, projects: readonly Project[]): string {
  if (project === null) return SHARED_POOL;
  return projects.find((each) => each.project_id === project)?.name ?? "a project";
}

export function titleOf(session: Pick<Session, "title" | "external_id"> | undefined, id: string): string {
  if (session?.title) return session.title;
  return id.startsWith("chat-") ? "Untitled conversation" : id;
}

/** A title made of the first words that were said; no character is cut in two. */
export function titleFrom(words: string): string {
  const text = words.replaceAll(/\s+/g, " ").trim();
  const line = Array.from(new Intl.Segmenter().segment(text), (each) => each.segment);
  if (line.length <= 60) return line.join("");
  const cut = line.slice(0, 60).join("");
  const end = cut.lastIndexOf(" ");
  return `${end < 30 ? cut : cut.slice(0, end)}…`;
}

export function recallSentence(project: string | null, projects: readonly Project[]): string {
  if (project === null) return "It recalls the other conversations of the shared pool, and nothing of any project.";
  return `It recalls the conversations of ${placeName(project, projects)}, and nothing from outside.`;
}

/** What a move makes visible where, before it is done. */
export function moveSentence(from: string | null, to: string | null, messages: number, projects: readonly Project[]): string {
  const [here, there] = [placeName(from, projects), placeName(to, projects)];
  const said = messages === 1 ? "Its one message" : `All of its ${count(messages, "message")}`;
  const visible = `${said} can then be recalled by every conversation in ${there}, and by none in ${here} any more.`;
  return from === null ? visible : `${visible} Entities that were learned from it stay in ${here}.`;
}

export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function ago(moment: string, now = Date.now()): string {
  const passed = now - Date.parse(moment);
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 7 * DAY) return `${Math.floor(passed / DAY)} d`;
  return new Date(moment).toLocaleDateString("en", { day: "numeric", month: "short" });
}

export function day(moment: string): string {
  return new Date(moment).toLocaleDateString("en", { day: "numeric", month: "long", year: "numeric" });
}

export function dayAndTime(moment: string): string {
  return new Date(moment).toLocaleString("en", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}
