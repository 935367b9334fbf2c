/** What a reply was given: its receipt, as the server stored it with the reply, item by item. */

import { useState } from "react";

import { getReceipt, receiptIdOf, type Receipt, type ReceiptItem, type Sent } from "../../api/receipts";
import { useHouse, useHouseState } from "../../house";
import { Icon } from "../../parts/icon";
import { useAnswer } from "../../parts/use-answer";
import { follow, go, projectAddress } from "../../router";
import { HiddenHere } from "../../session/hidden-here";
import { SetupDialog } from "../../session/setup-dialog";
import { count, inPlace, placeName, titleFrom } from "../../words";
import { Card } from "./card";
import { PromptDialog } from "./prompt-dialog";

interface Props {
  session: string;
  project: string | null;
  /** The reply. */
  message: string;
  /** What it answers. */
  question: string | null;
  onClose: () => void;
}

export function Recalled({ session, project, message, question, onClose }: Props) {
  const receipt = useAnswer(receiptIdOf(message), getReceipt);
  const [showsPrompt, setShowsPrompt] = useState(false);
  const [round, setRound] = useState(0);
  const onChanged = () => {
    receipt.again();
    setRound(round + 1);
  };
  const onLeave = () => {
    if (isOverTheChat()) onClose();
  };
  return (
    <aside className="recalled" aria-label="Recalled">
      <header>
        <h2>{receipt.answer && receipt.answer.given > 0 ? `Recalled ${receipt.answer.given}` : "Recalled"}</h2>
        <button type="button" className="quiet" onClick={onClose} aria-label="Close" title="Close (Esc)" autoFocus>
          <Icon name="close" />
        </button>
      </header>
      {question !== null && <p className="hint reply-to" title={question.slice(0, 500)}>Reply to “<bdi>{titleFrom(question)}</bdi>”</p>}
      {receipt.problem && <p className="trouble" role="alert">{receipt.problem}</p>}
      {!receipt.answer && !receipt.problem && <p className="hint" role="status">Loading…</p>}
      {receipt.answer && <Found receipt={receipt.answer} session={session} project={project} onChanged={onChanged} onLeave={onLeave} />}
      <HiddenHere session={session} round={round} onLeave={onLeave} />
      {receipt.answer && (
        <footer>
          <button type="button" className="link" onClick={() => setShowsPrompt(true)}>Show the exact prompt</button>
        </footer>
      )}
      {showsPrompt && <PromptDialog receipt={receiptIdOf(message)} onClose={() => setShowsPrompt(false)} />}
    </aside>
  );
}

interface FoundProps {
  receipt: Receipt;
  session: string;
  project: string | null;
  onChanged: () => void;
  /** Called when a link to a message is followed. */
  onLeave: () => void;
}

/** Whether the drawer covers the messages, as it does in a narrow window. */
function isOverTheChat(): boolean {
  return matchMedia("(max-width: 75rem)").matches;
}

function Found({ receipt, session, project, onChanged, onLeave }: FoundProps) {
  const { projects } = useHouseState();
  if (receipt.sent?.placeholders?.length === 0) return <NoPlaceholders prompt={receipt.sent.prompt} session={session} project={receipt.pool?.project_id ?? null} />;
  if (receipt.pool === null && receipt.given > 0) {
    return <p className="reason">{`This chat was moved since, or its project was changed or deleted. So the ${count(receipt.given, "item")} recalled then can’t be shown here.`}</p>;
  }
  const groups = groupsOf(receipt.items);
  const reason = reasonOf(receipt, session, inPlace(project, projects), placeName(project, projects));
  return (
    <>
      {reason !== null && <p className="reason">{reason}</p>}
      {receipt.summary.map((line) => <p key={line} className="hint">{line}.</p>)}
      {groups.map(({ title, items }) => (
        <section key={title} aria-label={title}>
          <h3>{title} <span className="number">{items.length}</span></h3>
          <ul className="recalled-cards">{items.map((item) => <Card key={item.id} item={item} session={session} onChanged={onChanged} onLeave={onLeave} />)}</ul>
        </section>
      ))}
    </>
  );
}

/** Which prompt had no place for memory: the conversation's own, or that of the project it was in at that time. */
function NoPlaceholders({ prompt, session, project }: { prompt: Sent["prompt"]; session: string; project: string | null }) {
  const { projects } = useHouseState();
  const whose = prompt === "session" ? "the prompt of this conversation" : project === null ? "the prompt" : <>the prompt of {placeName(project, projects)}</>;
  return (
    <p className="consequence">
      Nothing was given to the model: {whose} has no place for memory.{" "}
      {prompt === "session" ? <EditOwnPrompt id={session} /> : project !== null && <EditPromptOf project={project} />}
    </p>
  );
}

function EditPromptOf({ project }: { project: string }) {
  const address = projectAddress(project, "settings");
  return <a href={address} onClick={(event) => follow(event, () => go(address))}>Edit the prompt</a>;
}

function EditOwnPrompt({ id }: { id: string }) {
  const house = useHouse();
  const session = useHouseState().sessions.get(id);
  const [isOpen, setOpen] = useState(false);
  if (!session || !house.mayWrite) return null;
  return (
    <>
      <button type="button" className="link" onClick={() => setOpen(true)}>Edit the prompt</button>
      {isOpen && <SetupDialog id={id} session={session} project={session.project_id} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Why the items were allowed in, said once for all of them; null if none of them can be read any more. */
export function reasonOf(receipt: Pick<Receipt, "given" | "items">, session: string, where: string, name: string): string | null {
  if (receipt.given === 0) return `Nothing related was found in ${name}.`;
  if (receipt.items.length === 0) return null;
  const here = receipt.items.filter((item) => item.session_id === session).length;
  if (here === 0) return `From other chats ${where}.`;
  return here === receipt.items.length ? "From this chat." : `From this chat and other chats ${where}.`;
}

interface Group {
  title: string;
  items: ReceiptItem[];
}

/** Strong and weak matches apart; what is always given, because somebody pinned it or it sums up what went before, last. */
export function groupsOf(items: readonly ReceiptItem[]): Group[] {
  const groups: Group[] = [
    { title: "Strong matches", items: items.filter((item) => item.kind !== "entity" && item.strength === "strong") },
    { title: "Weak matches", items: items.filter((item) => item.kind !== "entity" && item.strength === "weak") },
    { title: "Pinned", items: items.filter((item) => item.strength === null && item.rule === "pinned") },
    { title: "Summaries", items: items.filter((item) => item.kind === "observation" && item.strength === null) },
    { title: "Entities", items: items.filter((item) => item.kind === "entity") },
  ];
  const known = new Set(groups.flatMap((group) => group.items));
  groups.push({ title: "Also given", items: items.filter((item) => !known.has(item)) });
  return groups.filter((group) => group.items.length > 0);
}

