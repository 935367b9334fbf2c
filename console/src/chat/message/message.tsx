import { memo } from "react";

import { CopyButton } from "../../parts/copy-button";
import { Icon } from "../../parts/icon";
import { When } from "../../parts/when";
import type { Versions } from "../talk/branches";
import type { Said } from "../talk/said";
import { Words } from "../words/markdown";
import { AttachedFile } from "./attached-file";
import { BranchPicker } from "./branch-picker";
import { DeleteButton } from "./delete-message";
import { Editor } from "./editor";
import { Reply } from "./reply";

export interface MessageActions {
  onEdit: (message: Said | null) => void;
  onResend: (message: Said, text: string) => void;
  onRegenerate: (message: Said) => void;
  onContinue: () => void;
  onRecalled: (message: Said) => void;
  onChoose: (message: string) => void;
  onDelete: (message: Said) => void;
}

export interface MessageProps {
  message: Said;
  session: string;
  versions: Versions | undefined;
  locked: boolean;
  /** The words in the editor, if the message is being edited. */
  editing: string | null;
  /** Whether the reply ended while this tab followed it. */
  isFresh: boolean;
  /** Whether the model can be asked to go on with it, if it was stopped. */
  mayContinue: boolean;
  isFound: boolean;
  actions: MessageActions;
}

export const Message = memo(function Message(props: MessageProps) {
  if (props.message.attachment) {
    const { message, locked, isFound, actions } = props;
    return <AttachedFile message={message} attachment={props.message.attachment} locked={locked} isFound={isFound} onDelete={actions.onDelete} />;
  }
  return props.message.role === "user" ? <Question {...props} /> : <Reply {...props} />;
});

function Question({ message, versions, locked, editing, isFound, actions }: MessageProps) {
  if (editing !== null) return <Editor words={editing} onCancel={() => actions.onEdit(null)} onSend={(text) => actions.onResend(message, text)} />;
  return (
    <article id={message.id ?? undefined} className={isFound ? "message question found" : "message question"} aria-label="You said" aria-busy={message.status === "sending"}>
      <div className="bubble"><Words text={message.text} scope={message.key} isUser /></div>
      <footer>
        {message.createdAt && <When moment={message.createdAt} />}
        <CopyButton text={() => message.text} label="Copy" />
        {message.id && (
          <button type="button" className="quiet" disabled={locked} onClick={() => actions.onEdit(message)} aria-label="Edit" title="Edit">
            <Icon name="edit" />
          </button>
        )}
        {message.id && <DeleteButton locked={locked} onClick={() => actions.onDelete(message)} />}
        {versions && <BranchPicker versions={versions} locked={locked} onChoose={actions.onChoose} />}
      </footer>
    </article>
  );
}
