/** Deletes a message for good, or one version of it with all that followed that version. */

import { useState } from "react";

import { remove, sentence } from "../../api/client";
import { allBranches, chooseBranch } from "../../api/sessions";
import type { StoredMessage } from "../../api/shapes";
import { Dialog } from "../../parts/dialog";
import { Icon } from "../../parts/icon";
import { useAnswer } from "../../parts/use-answer";
import { count } from "../../words";
import { below, type Versions } from "../talk/branches";
import type { Talk } from "../talk/talk";
import { onFirstClick } from "./first-click";

export function DeleteButton({ locked, onClick }: { locked: boolean; onClick: () => void }) {
  return (
    <button type="button" className="quiet" disabled={locked} onClick={onFirstClick(onClick)} aria-label="Delete" title="Delete">
      <Icon name="trash" />
    </button>
  );
}

interface Props {
  talk: Talk;
  message: string;
  versions: Versions | undefined;
  onClose: () => void;
}

export function DeleteMessage({ talk, message, versions, onClose }: Props) {
  const session = talk.session;
  const [problem, setProblem] = useState<string | null>(null);
  const [deleting, setDeleting] = useState(false);
  const stored = useAnswer<StoredMessage[]>(versions ? session : null, allBranches);
  const after = versions ? below(stored.answer ?? [], message) : [];
  const other = versions?.ids[versions.index > 0 ? versions.index - 1 : versions.index + 1];
  const act = async () => {
    setDeleting(true);
    try {
      await talk.deleting(async (onGone) => {
        // The version that stays is shown before the other one goes, the last message first: what is left is whole at any time.
        if (other !== undefined) await chooseBranch(session, other);
        for (const id of [...after.reverse(), message]) {
          await remove(`/v1/messages/${id}`);
          onGone(id);
        }
      }, other ?? null);
      onClose();
    } catch (error) {
      setProblem(sentence(error));
      setDeleting(false);
    }
  };
  return (
    <Dialog title={versions ? "Delete this version" : "Delete this message"} onClose={onClose}>
      <p className="consequence">
        {versions ? (
          <>
            This version is deleted for good{after.length > 0 ? `, with the ${count(after.length, "message")} that followed it` : ""}, and so are the memories and summaries made of it. The other {versions.ids.length === 2 ? "version stays" : "versions stay"}.
          </>
        ) : (
          <>This message is deleted for good, and so are the memories and summaries made of it. The rest of the conversation stays.</>
        )}
      </p>
      {(problem ?? stored.problem) && <p className="trouble" role="alert">{problem ?? stored.problem}</p>}
      <div className="actions">
        <button type="button" onClick={onClose} autoFocus>Cancel</button>
        <button type="button" className="grave" disabled={deleting || (versions !== undefined && stored.answer === null)} onClick={() => void act()}>Delete</button>
      </div>
    </Dialog>
  );
}
