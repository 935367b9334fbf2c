/** The part of a conversation that is loaded: one gapless range of its current branch, most often its end. */

import { messagePage, type MessagePage, type ReceiptSummary } from "../../api/sessions";
import type { StoredMessage } from "../../api/shapes";

const PAGE = 60;
const OLDER_PAGE = 200;

export interface Loaded {
  messages: readonly StoredMessage[];
  receipts: ReadonlyMap<string, ReceiptSummary>;
  /** Where older messages continue; null at the beginning. */
  older: string | null;
  /** Where newer messages continue; null at the end. */
  newer: string | null;
}

export const NOTHING_LOADED: Loaded = { messages: [], receipts: new Map(), older: null, newer: null };

export async function loadEnd(session: string): Promise<Loaded> {
  return fromPage(await messagePage(session, { before: "end" }, PAGE));
}

export async function loadAround(session: string, message: string): Promise<Loaded> {
  return fromPage(await messagePage(session, { around: message }, PAGE));
}

export async function withOlder(session: string, loaded: Loaded): Promise<Loaded> {
  if (loaded.older === null) return loaded;
  const page = fromPage(await messagePage(session, { cursor: loaded.older }, OLDER_PAGE));
  return { messages: [...page.messages, ...loaded.messages], receipts: joined(page, loaded), older: page.older, newer: loaded.newer };
}

export async function withNewer(session: string, loaded: Loaded): Promise<Loaded> {
  if (loaded.newer === null) return loaded;
  const page = fromPage(await messagePage(session, { cursor: loaded.newer }, OLDER_PAGE));
  return { messages: [...loaded.messages, ...page.messages], receipts: joined(loaded, page), older: loaded.older, newer: page.newer };
}

/** How something that was read joins what is loaded by the time that it arrives. */
export type Joining = (now: Loaded) => Loaded;

/** What was loaded, with its end as it is now. If the two do not touch, because much has changed, only the end is left. */
export function withEnd(loaded: Loaded, end: Loaded): Loaded {
  const first = end.messages[0]?.id;
  const from = first === undefined ? -1 : loaded.messages.findIndex((message) => message.id === first);
  if (from < 0) return end;
  return { messages: [...loaded.messages.slice(0, from), ...end.messages], receipts: joined(loaded, end), older: from === 0 ? end.older : loaded.older, newer: null };
}

/** Without messages that were deleted. */
export function without(loaded: Loaded, gone: ReadonlySet<string>): Loaded {
  return { ...loaded, messages: loaded.messages.filter((message) => !gone.has(message.id)) };
}

/** The words that began a conversation, as long as there is one reply to them only. */
export function firstWordsOf({ messages, older, newer }: Loaded): string | null {
  const asked = messages.filter((message) => message.role === "user");
  const isFirst = older === null && newer === null && asked.length === 1 && messages.at(-1)?.role === "assistant";
  return isFirst ? (asked[0]?.content ?? null) : null;
}

/** What was loaded up to this message, as the beginning of a branch that ends after it; null: nothing of it. */
export function upTo(loaded: Loaded, last: string | null): Loaded {
  if (loaded.newer === null) return loaded;
  const at = loaded.messages.findIndex((message) => message.id === last);
  return at < 0 ? NOTHING_LOADED : { ...loaded, messages: loaded.messages.slice(0, at + 1), newer: null };
}

function fromPage(page: MessagePage): Loaded {
  return {
    messages: page.data,
    receipts: new Map(page.receipts?.map((each) => [each.message_id, each])),
    older: page.previous_cursor ?? null,
    newer: page.next_cursor,
  };
}

function joined(one: Loaded, other: Loaded): ReadonlyMap<string, ReceiptSummary> {
  return new Map([...one.receipts, ...other.receipts]);
}
