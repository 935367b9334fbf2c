import { useState, type KeyboardEvent } from "react";

import { namesImages } from "../composer/images";
import { sendsWithEnter } from "../composer/keys";

interface Props {
  words: string;
  onCancel: () => void;
  onSend: (text: string) => void;
}

/** A message of the user, to be said in other words. */
export function Editor({ words, onCancel, onSend }: Props) {
  const [text, setText] = useState(words);
  const send = () => {
    if (text.trim()) onSend(text.trim());
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      // Nor does it close the window around it.
      event.preventDefault();
      onCancel();
    }
    if (sendsWithEnter(event)) {
      event.preventDefault();
      send();
    }
  };
  return (
    <form
      className="message editor"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="grow" data-text={`${text}\n`} dir="auto">
        <textarea aria-label="Edit your message" autoFocus value={text} rows={1} dir="auto" onChange={(event) => setText(event.target.value)} onKeyDown={press} />
      </div>
      <p className="hint">This makes a new version. The old one and its replies stay, and you can switch back.</p>
      {namesImages(words) && <p className="hint">Images are not kept: the model is given only their names. Attach them to a new message to send them again.</p>}
      <div className="actions">
        <button type="button" onClick={onCancel}>Cancel</button>
        <button type="submit" className="primary" disabled={!text.trim()}>Send</button>
      </div>
    </form>
  );
}
