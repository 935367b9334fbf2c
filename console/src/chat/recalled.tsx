/** What a reply knew, item by item: its words, where and when they were said, how near, and why they were allowed in. */

import { useEffect, useState } from "react";

import { post, sentence } from "../api/client";
import type { Context, Memory, Observation, Project, RecalledItem } from "../api/shapes";
import { useHouseState } from "../house";
import { Icon } from "../parts/icon";
import { PlaceName } from "../parts/place";
import { follow } from "../router";
import { dayAndTime, placeName, titleOf } from "../words";

interface Props {
  session: string;
  question: string;
  /** As it was when the reply was made; undefined where only asking again can tell. */
  context: Context | undefined;
  onOpen: (session: string) => void;
  onClose: () => void;
}

export function Recalled({ session, question, context, onOpen, onClose }: Props) {
  const [asked, setAsked] = useState<Context | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (context) return;
    let current = true;
    post<Context>("/v1/context", { session_id: session, query: question })
      .then((answer) => current && setAsked(answer))
      .catch((error: unknown) => current && setProblem(sentence(error)));
    return () => {
      current = false;
    };
  }, [context, session, question]);
  const shown = context ?? asked;
  return (
    <aside className="recalled" aria-label="Recalled">
      <header>
        <h2>Recalled</h2>
        <button type="button" className="quiet" onClick={onClose} aria-label="Close" autoFocus>
          <Icon name="close" />
        </button>
      </header>
      {problem && <p className="trouble" role="alert">{problem}</p>}
      {!shown && !problem && <p className="hint">Asking…</p>}
      {shown && <Found context={shown} again={!context} session={session} onOpen={onOpen} />}
    </aside>
  );
}

function Found({ context, again, session, onOpen }: { context: Context; again: boolean; session: string; onOpen: (id: string) => void }) {
  const { projects } = useHouseState();
  const walls = wallsOf(context.project_id, projects);
  const nothing = !(context.relevant_history.length + context.memories.length + context.entities.length + context.observations.length);
  return (
    <>
      <p className="hint">
        {again
          ? "What was recalled at the time is not kept. This is what the same words recall now, inside "
          : "What this reply was given besides the conversation itself, all from inside "}
        <PlaceName project={context.project_id} projects={projects} />.
      </p>
      {nothing && <p className="empty">Nothing else in here is related.</p>}
      <ol>
        {context.relevant_history.map((item) => (
          <Item key={item.id} item={item} why={whySaid(item, session, walls)} onOpen={onOpen} />
        ))}
      </ol>
      <Group title="Memories" found={context.memories} why={(each) => whyDerived(each.session_id, session, "memory", walls)} onOpen={onOpen} />
      <Group title="Notes" found={context.observations} why={(each) => whyDerived(each.session_id, session, "note", walls)} onOpen={onOpen} />
      {context.entities.length > 0 && (
        <>
          <h3>Entities</h3>
          <ol>
            {context.entities.map((entity) => (
              <li key={entity.id}>
                <p><strong>{entity.name}</strong> <span className="kind">{entity.type}</span></p>
                {entity.notes && <blockquote>{entity.notes}</blockquote>}
                <p className="why">Allowed in because it was learned {walls}.</p>
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

/** An author is somebody's choice of a name, so what is no user's is said to be a reply. */
function speaker(item: RecalledItem): string {
  if (item.role === "user") return item.author ?? item.user_id ?? "you";
  return item.author === null ? "reply" : `reply of ${item.author}`;
}

function Item({ item, why, onOpen }: { item: RecalledItem; why: string; onOpen: (id: string) => void }) {
  return (
    <li>
      <blockquote>{item.content}</blockquote>
      <p className="about">
        <Source session={item.session_id} onOpen={onOpen} /> · {speaker(item)} · <time dateTime={item.created_at}>{dayAndTime(item.created_at)}</time>
      </p>
      {item.relevance !== null && (
        <p className="score">
          <meter min={0} max={1} value={item.relevance} aria-label="How relevant it is to the question" />
          <span>{item.strength === "strong" ? "Strong match" : "Weak match"}{item.times_said > 1 && ` · said ${item.times_said} times`}{item.is_excerpt && " · excerpt"}</span>
        </p>
      )}
      <p className="why">{why}</p>
    </li>
  );
}

function Group<T extends Memory | Observation>({ title, found, why, onOpen }: { title: string; found: T[]; why: (item: T) => string; onOpen: (id: string) => void }) {
  if (found.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ol>
        {found.map((item) => (
          <li key={item.id}>
            <blockquote>{item.content}</blockquote>
            <p className="about">
              <Source session={item.session_id} onOpen={onOpen} /> · <time dateTime={item.created_at}>{dayAndTime(item.created_at)}</time>
            </p>
            <p className="why">{why(item)}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

export function Source({ session, onOpen }: { session: string; onOpen: (id: string) => void }) {
  const { sessions } = useHouseState();
  return (
    <a href={`/?session=${encodeURIComponent(session)}`} onClick={(event) => follow(event, () => onOpen(session))}>
      {titleOf(sessions.get(session), session)}
    </a>
  );
}

function wallsOf(project: string | null, projects: readonly Project[]): string {
  return project === null ? "in the shared pool" : `in ${placeName(project, projects)}`;
}

function whySaid(item: RecalledItem, session: string, walls: string): string {
  if (item.session_id === session) return "Allowed in because it was said in this conversation, earlier.";
  return `Allowed in because its conversation is ${walls}, as this one is.`;
}

function whyDerived(from: string, session: string, noun: string, walls: string): string {
  if (from === session) return `Allowed in because it is a ${noun} of this conversation.`;
  return `Allowed in because it is a ${noun} of a conversation ${walls}, as this one is.`;
}
