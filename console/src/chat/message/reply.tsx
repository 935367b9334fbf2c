import { CopyButton } from "../../parts/copy-button";
import { Icon } from "../../parts/icon";
import { When } from "../../parts/when";
import type { Said } from "../talk/said";
import { Words } from "../words/markdown";
import { BranchPicker } from "./branch-picker";
import { DeleteButton } from "./delete-message";
import { onFirstClick } from "./first-click";
import type { MessageProps } from "./message";
import { isNothingReply, isRecallReply, NothingReply, RecallReply } from "./recall-reply";

export function Reply({ message, session, versions, locked, isFresh, mayContinue, isFound, actions }: MessageProps) {
  const writing = message.status === "writing";
  return (
    <article id={message.id ?? undefined} className={isFound ? "message reply found" : "message reply"} aria-label="Reply" aria-busy={writing} data-key={message.key}>
      <Body message={message} session={session} isFresh={isFresh} />
      {writing && <Writing begun={message.text !== ""} />}
      {message.status === "partial" && (
        <p className="cut">
          <span role={isFresh ? "alert" : undefined}>Stopped.{message.error ? ` ${message.error}` : ""}</span>{" "}
          {mayContinue && !locked && <button type="button" className="link" onClick={onFirstClick(actions.onContinue)}>Continue</button>}
        </p>
      )}
      {message.status === "lost" && <p className="cut">Not stored.</p>}
      {!writing && (
        <footer>
          <RecalledBadge message={message} onClick={() => actions.onRecalled(message)} />
          <CopyButton text={() => message.text} label="Copy the reply" />
          {message.id && (
            <button type="button" className="quiet" disabled={locked} onClick={onFirstClick(() => actions.onRegenerate(message))} aria-label="Regenerate" title="Regenerate">
              <Icon name="retry" />
            </button>
          )}
          {message.id && <DeleteButton locked={locked} onClick={() => actions.onDelete(message)} />}
          {versions && <BranchPicker versions={versions} locked={locked} onChoose={actions.onChoose} />}
          {message.createdAt && <When moment={message.createdAt} />}
        </footer>
      )}
    </article>
  );
}

function Body({ message, session, isFresh }: { message: Said; session: string; isFresh: boolean }) {
  if (message.status === "failed") return <Failed message={message} isFresh={isFresh} />;
  if (message.id && isRecallReply(message)) return <RecallReply message={message} session={session} />;
  if (message.id && isNothingReply(message)) return <NothingReply message={message} />;
  return <Words text={message.text} scope={message.key} />;
}

function Failed({ message, isFresh }: { message: Said; isFresh: boolean }) {
  return <p className="failed" role={isFresh ? "alert" : undefined} dir="auto">{message.error ?? message.text}</p>;
}

/** Says what the receipt says, and opens it. What was imported or recorded by a program has none, and one that expired is gone. */
function RecalledBadge({ message, onClick }: { message: Said; onClick: () => void }) {
  const { receipt } = message;
  if (!message.id || receipt === null) return null;
  const text = !receipt.placeholders ? "No memory given" : receipt.given === 0 ? "Nothing recalled" : `Recalled ${receipt.given}`;
  return (
    <button type="button" className="recalled-button" aria-haspopup="dialog" onClick={onFirstClick(onClick)}>
      <Icon name="leaf" />
      {text}
    </button>
  );
}

export function Writing({ begun }: { begun: boolean }) {
  return (
    <span className={begun ? "writing begun" : "writing"} aria-hidden="true">
      <i /><i /><i />
    </span>
  );
}
