/** The branches of a conversation: which versions of a message there are, and which one is shown. */

import type { StoredMessage } from "../../api/shapes";

export interface Versions {
  /** In the order in which they were made. */
  ids: readonly string[];
  /** The position of the one that is shown. */
  index: number;
}

/** The versions of each message of the current branch that has more than one. */
export function versionsOf(messages: readonly StoredMessage[]): ReadonlyMap<string, Versions> {
  const siblings = new Map<string, StoredMessage[]>();
  for (const message of messages) {
    // A reply that failed beside another one is nothing to go back to.
    if (message.status === "failed" && message.is_current === false) continue;
    const key = `${message.parent_id ?? ""} ${message.role}`;
    siblings.set(key, [...(siblings.get(key) ?? []), message]);
  }
  const versions = new Map<string, Versions>();
  for (const group of siblings.values()) {
    if (group.length < 2) continue;
    const ids = group.sort((one, other) => one.seq - other.seq).map((message) => message.id);
    for (const [index, message] of group.entries()) if (message.is_current !== false) versions.set(message.id, { ids, index });
  }
  return versions;
}

/** The ids of all messages that follow a message, on any branch, in their order. */
export function below(messages: readonly StoredMessage[], id: string): string[] {
  const found = new Set([id]);
  for (const message of [...messages].sort((one, other) => one.seq - other.seq)) {
    if (message.parent_id && found.has(message.parent_id)) found.add(message.id);
  }
  found.delete(id);
  return [...found];
}
