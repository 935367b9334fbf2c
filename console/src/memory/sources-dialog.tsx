import { useState } from "react";

import { all, remove, sentence, sessionPath } from "../api/client";
import type { Memory, Observation, StoredMessage } from "../api/shapes";
import { useHouse } from "../house";
import { Dialog } from "../parts/dialog";
import { Source } from "../parts/source";
import { useAnswer } from "../parts/use-answer";
import { When } from "../parts/when";

interface Props {
  item: Memory | Observation;
  onChanged: () => void;
  onClose: () => void;
}

/** The messages something came from. Forgetting one takes all that came from it along, and says so first. */
export function SourcesDialog({ item, onChanged, onClose }: Props) {
  const house = useHouse();
  const [forgetting, setForgetting] = useState<StoredMessage | null>(null);
  const messages = useAnswer(item.session_id, (id, signal) => all<StoredMessage>(sessionPath(id, "/messages"), 10_000, signal));
  const wanted = new Set(item.source_message_ids);
  const sources = messages.answer?.filter((message) => wanted.has(message.id));
  return (
    <Dialog title="Source" onClose={onClose}>
      <blockquote className="statement" dir="auto">{item.content}</blockquote>
      <p className="hint">Said in <Source session={item.session_id} message={item.source_message_ids[0] ?? null} onLeave={onClose} />:</p>
      {messages.problem && <p className="trouble" role="alert">{messages.problem}</p>}
      <ul className="kept">
        {sources?.map((message) => (
          <li key={message.id}>
            <p dir="auto">{message.content}</p>
            <footer>
              <span>{message.author ?? (message.role === "user" ? "you" : "reply")}</span>
              <When moment={message.created_at} />
              {house.mayWrite && <span className="actions"><button type="button" className="link grave" onClick={() => setForgetting(message)}>Forget</button></span>}
            </footer>
          </li>
        ))}
      </ul>
      {sources?.length === 0 && <p className="empty">The message is gone.</p>}
      {forgetting && (
        <ForgetMessage
          message={forgetting}
          onDone={() => {
            setForgetting(null);
            onChanged();
            onClose();
          }}
          onCancel={() => setForgetting(null)}
        />
      )}
    </Dialog>
  );
}

function ForgetMessage({ message, onDone, onCancel }: { message: StoredMessage; onDone: () => void; onCancel: () => void }) {
  const memories = useAnswer(message.session_id, (id, signal) => all<Memory>(sessionPath(id, "/memories"), 10_000, signal));
  const notes = useAnswer(message.session_id, (id, signal) => all<Observation>(sessionPath(id, "/observations"), 10_000, signal));
  const [problem, setProblem] = useState<string | null>(null);
  const from = (item: Memory | Observation) => item.source_message_ids.includes(message.id);
  const going = [...(memories.answer?.filter(from) ?? []), ...(notes.answer?.filter(from) ?? [])];
  const forget = async () => {
    try {
      await remove(`/v1/messages/${message.id}`);
      onDone();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <div className="consequence final" role="alertdialog" aria-label="Forget a message">
      <p>This is deleted for good:</p>
      <ul>
        <li dir="auto">the message “{message.content}”</li>
        {going.map((item) => <li key={item.id} dir="auto">{item.id.startsWith("mem_") ? "the memory" : "the summary"} “{item.content}”</li>)}
      </ul>
      {problem && <p className="trouble" role="alert">{problem}</p>}
      <div className="actions">
        <button type="button" onClick={onCancel}>Cancel</button>
        <button type="button" className="grave" onClick={() => void forget()} disabled={memories.answer === null || notes.answer === null}>Forget</button>
      </div>
    </div>
  );
}
