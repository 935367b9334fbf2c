/** A conversation as a file: its current branch as Markdown, to read, or all of its branches as JSON, to work with. */

import { all, sentence, sessionPath } from "../api/client";
import { allBranches } from "../api/sessions";
import type { Session, StoredMessage } from "../api/shapes";
import { toast } from "../parts/toasts";
import { exactly } from "../times";
import { titleOf } from "../words";

export async function exportSession(session: Session, format: "markdown" | "json"): Promise<void> {
  const id = session.external_id;
  try {
    if (format === "markdown") {
      const messages = await all<StoredMessage>(sessionPath(id, "/messages"));
      save(`${fileName(session)}.md`, asMarkdown(session, messages), "text/markdown");
    } else {
      const messages = session.is_forked ? await allBranches(id) : await all<StoredMessage>(sessionPath(id, "/messages"));
      save(`${fileName(session)}.json`, JSON.stringify({ session, messages }, null, 2), "application/json");
    }
  } catch (error) {
    toast(sentence(error), { seconds: 10 });
  }
}

export function asMarkdown(session: Session, messages: readonly StoredMessage[]): string {
  const parts = messages
    .filter((message) => message.role !== "tool")
    .map((message) => {
      const who = message.author ?? (message.role === "user" ? "You" : message.role === "assistant" ? "Reply" : "System");
      const note = message.status === "completed" ? "" : message.status === "partial" ? "\n\n*Stopped.*" : "\n\n*Failed.*";
      return `## ${who} · ${exactly(message.created_at)}\n\n${message.content}${note}`;
    });
  return `# ${titleOf(session, session.external_id)}\n\n${parts.join("\n\n")}\n`;
}

/** The title without what file systems do not take. */
export function fileName(session: Session): string {
  const name = titleOf(session, session.external_id).replaceAll(/[\p{Cc}\\/:*?"<>|]+/gu, " ").replaceAll(/\s+/g, " ").trim().slice(0, 80);
  return name.replace(/^\.+/, "") || "conversation";
}

function save(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
