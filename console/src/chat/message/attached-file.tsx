import { useState } from "react";

import { Icon } from "../../parts/icon";
import type { Attachment, Said } from "../talk/said";
import { DeleteButton } from "./delete-message";

interface Props {
  message: Said;
  attachment: Attachment;
  locked: boolean;
  /** Whether the address names it, as that of a search hit does: its words are shown. */
  isFound: boolean;
  onDelete: (message: Said) => void;
}

/** A part of an attached file: its name, and its words when they are asked for. */
export function AttachedFile({ message, attachment, locked, isFound, onDelete }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? isFound;
  const name = attachment.parts > 1 ? `${attachment.name} (${attachment.part}/${attachment.parts})` : attachment.name;
  return (
    <article id={message.id ?? undefined} className={isFound ? "message attached found" : "message attached"} aria-label="Attached file">
      <div className="attached-line">
        <button type="button" className="file-chip" aria-expanded={open} title={attachment.name} onClick={() => setChosen(!open)}>
          <Icon name="file" />
          <bdi>{name}</bdi>
        </button>
        {message.id && <DeleteButton locked={locked} onClick={() => onDelete(message)} />}
      </div>
      {open && <pre className="file-words" tabIndex={0} dir="auto">{message.text}</pre>}
    </article>
  );
}
