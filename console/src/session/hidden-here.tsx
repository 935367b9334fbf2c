import { sentence } from "../api/client";
import { exclusions, include } from "../api/sessions";
import { useHouse } from "../house";
import { Source } from "../parts/source";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { When } from "../parts/when";

interface Props {
  session: string;
  /** Raised when something may have been hidden: the list is asked for again. */
  round?: number;
  /** Called when the link to where something was said is followed. */
  onLeave?: () => void;
}

/** What this conversation does not recall because somebody said that it is not relevant here. Nothing where nothing is hidden. */
export function HiddenHere({ session, round = 0, onLeave }: Props) {
  const house = useHouse();
  const hidden = useAnswer(`${session} ${round}`, (_, signal) => exclusions(session, signal));
  const items = hidden.answer ?? [];
  if (items.length === 0) return null;
  const recallAgain = async (id: string) => {
    try {
      await include(session, id);
      toast("This chat can recall it again.");
    } catch (error) {
      toast(sentence(error), { seconds: 10 });
    }
    hidden.again();
  };
  return (
    <details className="hidden-here">
      <summary>Hidden here ({items.length.toLocaleString()})</summary>
      <p className="hint">Marked as not relevant in this chat. Other chats still recall it.</p>
      <ul className="recalled-cards" aria-label="Hidden here">
        {items.map((item) => (
          <li key={item.id} className="recalled-card" data-strength="none">
            <blockquote dir="auto">{item.content}</blockquote>
            <footer>
              {item.session_id !== null && <Source session={item.session_id} message={item.kind === "message" ? item.id : null} {...(onLeave ? { onLeave } : {})} />}
              <span>hidden <When moment={item.created_at} /></span>
              {house.mayWrite && <button type="button" className="link" onClick={() => void recallAgain(item.id)}>Recall again</button>}
            </footer>
          </li>
        ))}
      </ul>
    </details>
  );
}
