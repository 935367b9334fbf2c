/** What a search has to ask: each request looks into one part of one project, as the server divides them, and never into two. */

import type { Hit, Project, Session, SignedIn } from "../api/shapes";

/** One part: of a project, or of no project; of a user, or of the conversations that have no user. */
export interface Target {
  project: string | null;
  user: string | null;
}

/** The hits of one project, out of all of its parts. */
export interface Found {
  project: string | null;
  hits: Hit[];
}

export interface Targets {
  all: readonly Target[];
  /** Whether there are parts of further users, which are not searched. */
  isCut: boolean;
}

/** So many parts of users are searched, those with the latest messages: every one is a request. */
export const MOST_USERS = 40;
const MOST_HITS = 8;

/** Every project as a whole or without a user, and each user's part of those that are private, as far as the conversations name one. */
export function targetsOf(projects: readonly Project[], sessions: Iterable<Session>, me: SignedIn): Targets {
  const all: Target[] = projects.map((project) => ({ project: project.project_id, user: null }));
  if (!me.confined) all.push({ project: null, user: null });
  // The requests of a key that is bound to a user are that user's by themselves.
  if (me.user_id !== null) return { all, isCut: false };
  const order = new Map(all.map((target, number) => [target.project, number]));
  const shared = new Set(projects.filter((project) => project.member_visibility === "shared").map((project) => project.project_id));
  const members = newestMembers([...sessions].filter((session) => order.has(session.project_id) && !shared.has(session.project_id ?? "")));
  all.push(...members.slice(0, MOST_USERS).sort((one, other) => (order.get(one.project) ?? 0) - (order.get(other.project) ?? 0) || compare(one.user ?? "", other.user ?? "")));
  return { all, isCut: members.length > MOST_USERS };
}

function newestMembers(sessions: readonly Session[]): Target[] {
  const latest = new Map<string, Target & { moment: string }>();
  for (const { project_id: project, user_id: user, updated_at: moment } of sessions) {
    if (user === null) continue;
    const key = JSON.stringify([project, user]);
    const before = latest.get(key);
    if (!before || before.moment < moment) latest.set(key, { project, user, moment });
  }
  return [...latest.values()].sort((one, other) => compare(other.moment, one.moment)).map(({ project, user }) => ({ project, user }));
}

/** With the hits of one more part: strong ones, and weak ones only where a project has nothing better; the most relevant first. */
export function withHits(found: readonly Found[], project: string | null, hits: readonly Hit[], order: readonly (string | null)[]): Found[] {
  const before = found.find((each) => each.project === project);
  const known = new Map([...(before?.hits ?? []), ...hits].map((hit) => [hit.id, hit]));
  const all = [...known.values()].sort((one, other) => other.relevance - one.relevance);
  const strong = all.filter((hit) => hit.strength === "strong");
  const best = (strong.length > 0 ? strong : all).slice(0, MOST_HITS);
  const others = found.filter((each) => each.project !== project);
  if (best.length === 0) return others;
  return [...others, { project, hits: best }].sort((one, other) => order.indexOf(one.project) - order.indexOf(other.project));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
