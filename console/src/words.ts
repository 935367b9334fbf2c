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

/** Whether a place is one pool for all users; all others are divided by user. */
function isSharedByMembers(project: string | null, projects: readonly Project[]): boolean {
  return projects.find((each) => each.project_id === project)?.member_visibility === "shared";
}

/** What a new conversation recalls. One that is begun here has no user. */
export function recallSentence(project: string | null, projects: readonly Project[]): string {
  const name = placeName(project, projects);
  const whose = isSharedByMembers(project, projects) ? "" : " that have no user";
  return `Remembers other conversations in ${name}${whose}. Nothing from elsewhere.`;
}

/** What a move makes visible where, before it is done. */
export function moveSentence(session: Pick<Session, "project_id" | "user_id" | "message_count">, to: string | null, projects: readonly Project[]): string {
  const { project_id: from, message_count: messages } = session;
  const here = placeName(from, projects);
  const said = messages === 1 ? "Its one message" : `All of its ${count(messages, "message")}`;
  const visible = `${said} can then be recalled by ${readersOf(session.user_id, to, projects)}, and by none in ${here} any more.`;
  return from === null ? visible : `${visible} Entities that were learned from it stay in ${here}.`;
}

/** Who recalls what a conversation of this user says in a place. */
function readersOf(user: string | null, project: string | null, projects: readonly Project[]): string {
  const conversations = `every conversation in ${placeName(project, projects)}`;
  if (isSharedByMembers(project, projects)) return conversations;
  return user === null ? `${conversations} that has no user` : `${conversations} of the user ${user}`;
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
