/** What is known of a conversation, as the chat shows it, and what it says when something went wrong. */

import { sentence } from "../../api/client";
import type { Versions } from "./branches";
import type { Said } from "./said";

/** `new`: nothing was said yet, and the server knows nothing of it. `missing`: the address names it, and there is none. `refused`: the server answered, and did not show it. */
export type Phase = "loading" | "new" | "here" | "gone" | "missing" | "unreachable" | "refused";

export interface Notice {
  tone: "calm" | "trouble";
  text: string;
  /** The server could not be reached: it is no longer true when the server is back. */
  isPassing?: boolean;
}

export interface TalkState {
  phase: Phase;
  messages: readonly Said[];
  /** A reply is awaited or coming, from here or from another tab. */
  busy: boolean;
  notice: Notice | null;
  hasOlder: boolean;
  hasNewer: boolean;
  versions: ReadonlyMap<string, Versions>;
  /** The replies that ended while this tab followed them, by key. */
  fresh: ReadonlySet<string>;
}

/** What a conversation needs to know of the tab and the lists around it. */
export interface TalkHost {
  /** Whether the conversation may exist: one that was only just begun here cannot. */
  mayExist: () => boolean;
  isAddressed: () => boolean;
  /** Whether it is among the conversations that the sidebar lists. */
  isListed: () => boolean;
  /** The conversation exists: it was found, or its first message was stored. */
  onExists: (firstWords: string | null) => Promise<void>;
  /** A reply was finished. `firstWords` are those that it answers, if they are the first of the conversation. */
  onReplied: (firstWords: string | null) => Promise<void>;
}

export const IN_PROGRESS: Notice = {
  tone: "calm",
  text: "A reply is already being written here, so your message wasn’t sent. It’s still in the text field.",
};

export const NOTHING_KNOWN: TalkState = {
  phase: "loading",
  messages: [],
  busy: false,
  notice: null,
  hasOlder: false,
  hasNewer: false,
  versions: new Map(),
  fresh: new Set(),
};

export function trouble(error: unknown): Notice {
  return { tone: "trouble", text: sentence(error), ...(error instanceof TypeError ? { isPassing: true } : {}) };
}

/** The new messages, but those that have not changed as they were: what is shown of them is not made again. */
export function unchanged(before: readonly Said[], now: readonly Said[]): readonly Said[] {
  const known = new Map(before.map((each) => [each.key, each]));
  return now.map((each) => {
    const old = known.get(each.key);
    return old && isSame(old, each) ? old : each;
  });
}

function isSame(one: Said, other: Said): boolean {
  return one.id === other.id && one.text === other.text && one.status === other.status && one.error === other.error && one.createdAt === other.createdAt && one.parentId === other.parentId && one.receipt?.given === other.receipt?.given;
}
