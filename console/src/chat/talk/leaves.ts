/** How far the branches were shown in this tab: a version that is chosen again comes with the versions that were chosen below it. */

import { Refusal } from "../../api/client";
import { chooseBranch } from "../../api/sessions";
import type { Loaded } from "./history";

export class Leaves {
  /** The last message that was shown below each message. */
  private readonly last = new Map<string, string>();

  /** This branch is shown, and about to be left. */
  note({ messages, newer }: Loaded): void {
    const leaf = messages.at(-1)?.id;
    if (leaf !== undefined && newer === null) for (const each of messages) this.last.set(each.id, leaf);
  }

  async choose(session: string, message: string): Promise<void> {
    try {
      await chooseBranch(session, this.last.get(message) ?? message);
    } catch (error) {
      // It may have been deleted since.
      if (!(error instanceof Refusal && error.code === "not_found") || !this.last.delete(message)) throw error;
      await chooseBranch(session, message);
    }
  }
}
