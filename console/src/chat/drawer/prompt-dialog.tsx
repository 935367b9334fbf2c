import { receiptPrompt } from "../../api/receipts";
import { CopyButton } from "../../parts/copy-button";
import { Dialog } from "../../parts/dialog";
import { useAnswer } from "../../parts/use-answer";

/** The prompt of a reply, message by message, as the model got it. */
export function PromptDialog({ receipt, onClose }: { receipt: string; onClose: () => void }) {
  const prompt = useAnswer(receipt, receiptPrompt);
  const shown = prompt.answer;
  return (
    <Dialog title="The prompt of this reply" className="wide" onClose={onClose}>
      {prompt.problem && <p className="trouble" role="alert">{prompt.problem}</p>}
      {!shown && !prompt.problem && <p className="hint" role="status">Loading…</p>}
      {shown && !shown.is_exact && (
        <div className="consequence">
          <p>Something has changed since, so this is not exactly what the model got:</p>
          <ul>{shown.missing.map((line) => <li key={line}>{line}</li>)}</ul>
        </div>
      )}
      {shown?.messages.map((message, number) => (
        <section key={number} className="prompt-part" aria-label={message.role}>
          <header>
            <h3>{message.role}</h3>
            <CopyButton text={() => message.content} label="Copy" />
          </header>
          <pre tabIndex={0} dir="auto">{message.content}</pre>
        </section>
      ))}
    </Dialog>
  );
}
