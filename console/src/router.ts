/** The addresses of the console: which page each one is, and how to go there. */

import { useSyncExternalStore, type MouseEvent } from "react";

import { segment } from "./api/client";

export const PROJECT_PARTS = ["memories", "entities", "timeline", "conversations", "settings"] as const;
export type ProjectPart = (typeof PROJECT_PARTS)[number];

export const USER_PARTS = ["memories", "timeline", "conversations"] as const;
export type UserPart = (typeof USER_PARTS)[number];

export type Route =
  /** A conversation; null: a new one, which has no address before its first message. */
  | { page: "chat"; session: string | null }
  /** The home of a project, or of what is in no project (null); a part of it, or its overview (null). */
  | { page: "project"; project: string | null; part: ProjectPart | null }
  /** A user; a part of what is known of them, or their profile (null). */
  | { page: "user"; user: string; part: UserPart | null }
  | { page: "memory"; part: string | null }
  | { page: "settings"; part: string | null }
  | { page: "start" }
  | { page: "import" }
  | { page: "sign-in" }
  | { page: "unknown" };

const NO_PROJECT = "none";
const PLAIN_PAGES = ["start", "import", "sign-in"] as const;

/** The page of an address. */
export function readRoute(pathname: string): Route {
  const segments = pathname.split("/").slice(1).map(decoded);
  if (segments.at(-1) === "") segments.pop();
  const [first, second, third, ...more] = segments;
  if (more.length > 0 || segments.includes(null)) return { page: "unknown" };
  if (first === undefined) return { page: "chat", session: null };
  if (first === "p" && second) {
    const part = third === undefined ? null : PROJECT_PARTS.find((each) => each === third);
    return part === undefined ? { page: "unknown" } : { page: "project", project: second === NO_PROJECT ? null : second, part };
  }
  if (first === "u" && second) {
    const part = third === undefined ? null : USER_PARTS.find((each) => each === third);
    return part === undefined ? { page: "unknown" } : { page: "user", user: second, part };
  }
  if (third !== undefined) return { page: "unknown" };
  if (first === "c" && second) return { page: "chat", session: second };
  if (first === "memory" || first === "settings") return { page: first, part: second ?? null };
  const plain = PLAIN_PAGES.find((each) => each === first);
  return plain && second === undefined ? { page: plain } : { page: "unknown" };
}

/** The address of a conversation, at one of its messages if one is named. */
export function chatAddress(session: string, message?: string | null): string {
  return `/c/${segment(session)}${message ? `#${message}` : ""}`;
}

export function projectAddress(project: string | null, part?: ProjectPart | null): string {
  return `/p/${project === null ? NO_PROJECT : segment(project)}${part ? `/${part}` : ""}`;
}

export function userAddress(user: string, part?: UserPart | null): string {
  return `/u/${segment(user)}${part ? `/${part}` : ""}`;
}

/** Kept by the browser with an entry of its history: which conversation a new one, without an address, was to be. */
interface Entry {
  session?: string;
}

const watchers = new Set<() => void>();
let arrivals = 0;
const notify = () => watchers.forEach((watcher) => watcher());
addEventListener("popstate", notify);

/** Called after each change of the address; before anything that `useRoute` renders if it is registered first. */
export function onNavigation(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function go(address: string, entry: Entry = {}): void {
  const now = location.pathname + location.search + location.hash;
  arrivals += 1;
  if (address !== now || entry.session !== currentEntry().session) history.pushState(entry, "", address);
  notify();
}

/** The same entry of the history under another address: Back does not lead to the old one. */
export function replaceAddress(address: string, entry: Entry = {}): void {
  history.replaceState(entry, "", address);
  notify();
}

export function currentEntry(): Entry {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null ? state : {};
}

export function usePath(): string {
  return useSyncExternalStore(onNavigation, () => location.pathname);
}

export function useRoute(): Route {
  return readRoute(usePath());
}

/** The message that the address names, if it names one. */
export function useAnchor(): string | null {
  return useSyncExternalStore(onNavigation, () => location.hash.slice(1)) || null;
}

/** Raised each time that an address is gone to, also if it was the address already. */
export function useArrival(): number {
  return useSyncExternalStore(onNavigation, () => arrivals);
}

/** For links: a plain click stays in this page, all others are the browser's. */
export function follow(event: MouseEvent, act: () => void): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  act();
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
