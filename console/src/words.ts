/** Plain sentences: what a project remembers, what a move does. */

import type { Project, Session } from "./api/shapes";

export const NO_PROJECT = "No project";
/** What the server warns of when a prompt is saved. */
export const NO_MEMORY_IN_PROMPT = "Saved. This prompt has no placeholder for memory, so the model will be given none of it.";

/** The name of a project as a label. */
export function placeName(project: string | null, projects: readonly Project[]): string {
  if (project === null) return NO_PROJECT;
  return projects.find((each) => each.project_id === project)?.name ?? "A project";
}

/** A project inside a sentence: "in Garden", "in no project". */
export function inPlace(project: string | null, projects: readonly Project[]): string {
  return project === null ? "in no project" : `in ${placeName(project, projects)}`;
}

/** One line that says what a project is, or what it means to be in none. */
export function placeHint(project: string | null): string {
  return project === null
    ? "Chats that belong to no project. They remember each other, and no project’s chats."
    : "A project is a separate memory: chats inside remember each other, and nothing else.";
}

export function titleOf(session: Pick<Session, "title" | "external_id"> | undefined, id: string): string {
  if (session?.title) return session.title;
  return id.startsWith("chat-") ? "Untitled chat" : id;
}

/** Marks of Markdown at the edges of words, and before a line. */
const MARKS = /(?<![\p{L}\p{N}])[*_`~#>]+(?=\S)|(?<=\S)[*_`~]+(?![\p{L}\p{N}])|^[#>]+\s+/gmu;

/** A title made of the first words that were said, without marks; no character is cut in two. */
export function titleFrom(words: string): string {
  const text = words.slice(0, 1_000).replaceAll(MARKS, "").replaceAll(/\s+/g, " ").trim() || words.slice(0, 1_000).trim();
  const line = Array.from(new Intl.Segmenter().segment(text), (each) => each.segment);
  if (line.length <= 60) return line.join("");
  const cut = line.slice(0, 60).join("");
  const end = cut.lastIndexOf(" ");
  return `${end < 30 ? cut : cut.slice(0, end)}…`;
}

/** Whether a project is one pool for all users; all others are divided by user, and so is what is in no project. */
function isSharedByMembers(project: string | null, projects: readonly Project[]): boolean {
  return projects.find((each) => each.project_id === project)?.member_visibility === "shared";
}

/** What a new conversation remembers. `hasUsers`: some conversations there belong to a user, and are that user's alone. */
export function recallSentence(project: string | null, projects: readonly Project[], hasUsers = false): string {
  const chats = project === null ? "other chats without a project" : `other chats in ${placeName(project, projects)}`;
  const apart = hasUsers && !isSharedByMembers(project, projects) ? " Chats of a user are remembered only for that user." : "";
  return `Remembers ${chats}. Nothing from elsewhere.${apart}`;
}

/** What a move makes visible where, before it is done. `hasUsers`: there are conversations that belong to a user. */
export function moveSentence(session: Pick<Session, "project_id" | "user_id" | "message_count">, to: string | null, projects: readonly Project[], hasUsers = true): string {
  const { project_id: from, message_count: messages } = session;
  const visible = `After the move, ${readersOf(session.user_id, to, projects, hasUsers)} can recall its ${count(messages, "message")}. Chats ${inPlace(from, projects)} no longer can.`;
  return from === null ? visible : `${visible} Entities learned from it stay ${inPlace(from, projects)}.`;
}

/** Who recalls what a conversation of this user says in a project. */
function readersOf(user: string | null, project: string | null, projects: readonly Project[], hasUsers: boolean): string {
  const chats = `chats ${inPlace(project, projects)}`;
  if (isSharedByMembers(project, projects)) return `all ${chats}`;
  if (user === null && !hasUsers) return chats;
  return user === null ? `${chats} that have no user` : `${user}’s ${chats}`;
}

/** What pinning does: without a model, only what matches is quoted. */
export function pinnedSentence(hasModel: boolean): string {
  return hasModel ? "Pinned. The model is given it with every question." : "Pinned. No model is connected; once one is, it is given this with every question.";
}

/** A number and its noun, in the reader's way of writing numbers. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString()} ${number === 1 ? noun : plural}`;
}
