import { useState } from "react";

import { Icon } from "../../parts/icon";
import type { Attachment, Said } from "../talk/said";

/** A part of an attached file: its name, and its words when they are asked for. */
export function AttachedFile({ message, attachment }: { message: Said; attachment: Attachment }) {
  const [open, setOpen] = useState(false);
  const name = attachment.parts > 1 ? `${attachment.name} (${attachment.part}/${attachment.parts})` : attachment.name;
  return (
    <article id={message.id ?? undefined} className="message attached" aria-label="Attached file">
      <button type="button" className="file-chip" aria-expanded={open} title={attachment.name} onClick={() => setOpen(!open)}>
        <Icon name="file" />
        <bdi>{name}</bdi>
      </button>
      {open && <pre className="file-words" tabIndex={0} dir="auto">{message.text}</pre>}
    </article>
  );
}
