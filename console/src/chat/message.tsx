import { memo, useState, type KeyboardEvent } from "react";

import { CopyButton } from "../parts/copy-button";
import { Icon } from "../parts/icon";
import { count, dayAndTime } from "../words";
import { Words } from "./markdown";
import { contextOf, wordsOf, type Said } from "./said";

interface Props {
  message: Said;
  /** How many messages come after it: they go when it is resent. */
  after: number;
  last: boolean;
  writing: boolean;
  locked: boolean;
  editing: boolean;
  onEdit: (id: string | null) => void;
  onResend: (message: Said, text: string) => void;
  onRetry: () => void;
  onRecalled: (message: Said) => void;
}

export const Message = memo(function Message(props: Props) {
  return props.message.role === "user" ? <Question {...props} /> : <Reply {...props} />;
});

function Question({ message, after, locked, editing, onEdit, onResend }: Props) {
  const words = wordsOf(message);
  if (editing) return <Editor words={words} after={after} onCancel={() => onEdit(null)} onResend={(text) => onResend(message, text)} />;
  return (
    <article className="message question" aria-label="You said">
      <div className="bubble">{words}</div>
      <footer>
        <When message={message} />
        <CopyButton text={() => words} label="Copy" />
        {message.metadata?.message_id && (
          <button type="button" className="quiet" disabled={locked} onClick={() => onEdit(message.id)} aria-label="Edit and resend" title="Edit and resend">
            <Icon name="edit" />
          </button>
        )}
      </footer>
    </article>
  );
}

function Reply({ message, last, writing, locked, onRetry, onRecalled }: Props) {
  const words = wordsOf(message);
  const context = contextOf(message);
  const status = message.metadata?.status;
  const recalled = context ? context.relevant_history.length + context.memories.length + context.entities.length + context.observations.length : null;
  return (
    <article className="message reply" aria-label="Reply" aria-busy={writing}>
      {status === "failed" ? <p className="failed">{words}</p> : <Words text={words} />}
      {writing && <Writing begun={words !== ""} />}
      {status === "partial" && <p className="cut">Cut off here.{message.metadata?.error ? ` ${message.metadata.error}` : ""}</p>}
      {!writing && (
        <footer>
          <button type="button" className="recalled-button" onClick={() => onRecalled(message)}>
            <Icon name="leaf" />
            {recalled === null ? "Recalled" : recalled === 0 ? "Nothing recalled" : `Recalled ${recalled}`}
          </button>
          <CopyButton text={() => words} label="Copy the reply" />
          {last && (
            <button type="button" className="quiet" disabled={locked} onClick={onRetry} aria-label="Answer again" title="Answer again">
              <Icon name="retry" />
            </button>
          )}
          <When message={message} />
        </footer>
      )}
    </article>
  );
}

function When({ message }: { message: Said }) {
  const moment = message.metadata?.created_at;
  return moment ? <time dateTime={moment}>{dayAndTime(moment)}</time> : null;
}

export function Writing({ begun }: { begun: boolean }) {
  return (
    <span className={begun ? "writing begun" : "writing"} aria-hidden="true">
      <i /><i /><i />
    </span>
  );
}

interface EditorProps {
  words: string;
  after: number;
  onCancel: () => void;
  onResend: (text: string) => void;
}

function Editor({ words, after, onCancel, onResend }: EditorProps) {
  const [text, setText] = useState(words);
  const resend = () => {
    if (text.trim()) onResend(text.trim());
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") onCancel();
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      resend();
    }
  };
  return (
    <form
      className="message editor"
      onSubmit={(event) => {
        event.preventDefault();
        resend();
      }}
    >
      <div className="grow" data-text={`${text}\n`}>
        <textarea aria-label="Edit what you said" autoFocus value={text} rows={1} onChange={(event) => setText(event.target.value)} onKeyDown={press} />
      </div>
      <p className="hint">
        What you said before is forgotten{after > 0 ? `, with the ${count(after, "message")} after it` : ""} and all that was kept of it.
      </p>
      <div className="actions">
        <button type="button" onClick={onCancel}>Cancel</button>
        <button type="submit" className="primary" disabled={!text.trim()}>Resend</button>
      </div>
    </form>
  );
}
