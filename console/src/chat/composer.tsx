import { useEffect, useRef, type KeyboardEvent } from "react";

import { Icon } from "../parts/icon";
import { useDraft } from "./drafts";

interface Props {
  session: string;
  busy: boolean;
  disabled: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
  onEditLast: () => void;
}

const LONGEST = 65_536;

/** Enter sends, Shift+Enter begins a line, Escape stops, and the up arrow in an empty field edits what was said last. */
export function Composer({ session, busy, disabled, onSend, onStop, onEditLast }: Props) {
  const [text, setText] = useDraft(session);
  const field = useRef<HTMLTextAreaElement>(null);

  useEffect(() => {
    field.current?.focus({ preventScroll: true });
  }, []);

  const words = text.trim();
  const send = () => {
    if (!words || busy || disabled) return;
    setText("");
    onSend(words);
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && busy) {
      onStop();
    } else if (event.key === "ArrowUp" && text === "" && !busy) {
      event.preventDefault();
      onEditLast();
    }
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="composer-field">
        <div className="grow" data-text={`${text}\n`}>
          <textarea
            ref={field}
            id="composer"
            aria-label="Message"
            placeholder={busy ? "The reply is being written…" : "Say something"}
            value={text}
            rows={1}
            maxLength={LONGEST}
            disabled={disabled}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={press}
          />
        </div>
        {busy ? (
          <button type="button" className="round" onClick={onStop} aria-label="Stop the reply" title="Stop the reply (Esc)">
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" className="round primary" disabled={!words || disabled} aria-label="Send" title="Send (Enter)">
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}
