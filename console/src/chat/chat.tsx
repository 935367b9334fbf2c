import { useCallback, useEffect, useRef, useState } from "react";

import type { Project, SignedIn } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Icon, Mark } from "../parts/icon";
import { PlaceName, PlacePicker } from "../parts/place";
import { go } from "../router";
import { tab, useSessionsElsewhere, useTab } from "../tab";
import { recallSentence, titleOf } from "../words";
import { SessionMenu } from "../sidebar/session-menu";
import { Composer } from "./composer";
import { Message, Writing } from "./message";
import { Recalled } from "./recalled";
import { contextOf, wordsOf, type Said } from "./said";
import { useConversation } from "./use-conversation";

const NEAR_THE_END = 120;

/** The conversation of this tab. `inside` says whether it is shown in a window over another page. */
export function Chat({ inside = false }: { inside?: boolean }) {
  const { session, turn } = useTab();
  return <Conversation key={`${session} ${turn}`} id={session} inside={inside} />;
}

function Conversation({ id, inside }: { id: string; inside: boolean }) {
  const house = useHouse();
  const { projects, sessions, leaving } = useHouseState();
  const elsewhere = useSessionsElsewhere();
  const chosen = useTab().place;
  const session = sessions.get(id);
  const place = session ? session.project_id : placeOfNew(chosen, house.me, projects);
  const talk = useConversation(id, place);
  const [editing, setEditing] = useState<string | null>(null);
  const [asked, setAsked] = useState<Said | null>(null);
  const { messages, busy, phase } = talk;
  const { end, list } = useStickyEnd(messages, busy);

  const retry = useStable(() => void talk.retry());
  const resend = useStable((message: Said, text: string) => {
    setEditing(null);
    void talk.resend(message, text);
  });
  const shownFor = useStable((message: Said) => setAsked((before) => (before?.id === message.id ? null : message)));
  const edit = useStable((which: string | null) => {
    setEditing(which);
    if (which === null) document.getElementById("composer")?.focus();
  });
  const open = (which: string) => {
    tab.open(which);
    go("/");
  };

  const isNew = phase === "new" && messages.length === 0;
  const isHere = session !== undefined && phase !== "gone" && !leaving.has(id);
  const title = isNew ? "New conversation" : titleOf(session, id);
  const isElsewhere = [...elsewhere.values()].includes(id);
  const last = messages.at(-1);
  const awaited = busy && (last === undefined || last.role === "user");

  useEffect(() => {
    document.title = isNew ? "Cloister" : `${title} · Cloister`;
  }, [isNew, title]);

  return (
    <div className={asked ? "chat with-drawer" : "chat"}>
      <section className="conversation" aria-label={title}>
        <header className="chat-head">
          <div className="chat-title">
            <h1>{title}</h1>
            {!isNew && <PlaceName project={place} projects={projects} />}
            {isElsewhere && (
              <span className="tab-mark" title="This conversation is open in another tab too">
                <Icon name="tabs" />
                <span>also in another tab</span>
              </span>
            )}
          </div>
          {isHere && <SessionMenu session={session} />}
        </header>
        <div className="messages" ref={list} tabIndex={-1}>
          {isNew && (
            <div className="threshold">
              <Mark />
              <p className="threshold-words">What is said here stays in</p>
              <PlacePicker value={place} projects={projects} label="Where this conversation will be" onChange={(to) => tab.choose(to)} shared={!house.me.confined} />
              <p className="hint">{recallSentence(place, projects)}</p>
            </div>
          )}
          {phase === "gone" && <Gone />}
          {phase === "unreachable" && messages.length === 0 && <p className="empty">The server cannot be reached. This page goes on as soon as it can.</p>}
          {messages.map((message, number) => (
            <Message
              key={number}
              message={message}
              after={messages.length - number - 1}
              last={number === messages.length - 1}
              writing={busy && number === messages.length - 1 && message.role === "assistant"}
              locked={busy || !house.mayWrite}
              editing={editing === message.id}
              onEdit={edit}
              onResend={resend}
              onRetry={retry}
              onRecalled={shownFor}
            />
          ))}
          {awaited && <article className="message reply" aria-label="Reply" aria-busy="true"><Writing begun={false} /></article>}
          <div ref={end} />
        </div>
        <div className="below">
          {talk.notice && (
            <p className={`notice ${talk.notice.tone}`} role="alert">
              <span>{talk.notice.text}</span>
              <button type="button" className="quiet" onClick={talk.dismiss} aria-label="Dismiss"><Icon name="close" /></button>
            </p>
          )}
          <Composer
            key={inside ? "inside" : "page"}
            session={id}
            busy={busy}
            disabled={!house.mayWrite || phase === "gone" || phase === "loading" || leaving.has(id)}
            onSend={(text) => void talk.send(text)}
            onStop={() => void talk.stop()}
            onEditLast={() => {
              const said = messages.findLast((each) => each.role === "user");
              if (said?.metadata?.message_id) setEditing(said.id);
            }}
          />
        </div>
        <p className="unseen" role="status" aria-live="polite">{busy ? "A reply is being written." : last?.role === "assistant" ? `Reply: ${wordsOf(last)}` : ""}</p>
      </section>
      {asked && <Recalled session={id} question={questionOf(messages, asked)} context={contextOf(messages.find((each) => each.id === asked.id) ?? asked)} onOpen={open} onClose={() => setAsked(null)} />}
    </div>
  );
}

function Gone() {
  return (
    <div className="threshold">
      <p>This conversation was deleted.</p>
      <button type="button" className="primary" onClick={() => tab.begin()}>New chat</button>
    </div>
  );
}

/** Where somebody chose, if that is still there; else the key's own project, else the default one. */
export function placeOfNew(
  chosen: string | null | undefined,
  me: Pick<SignedIn, "project_id" | "confined">,
  projects: readonly Pick<Project, "project_id" | "is_default">[],
): string | null {
  if (me.confined) return me.project_id;
  if (chosen === null) return null;
  if (projects.some((project) => project.project_id === chosen)) return chosen ?? null;
  return me.project_id ?? projects.find((project) => project.is_default)?.project_id ?? null;
}

function questionOf(messages: readonly Said[], reply: Said): string {
  const place = messages.findIndex((message) => message.id === reply.id);
  const question = messages.slice(0, place).findLast((message) => message.role === "user");
  return question ? wordsOf(question) : wordsOf(reply);
}

/** A function that stays the same while what it does changes: messages are not drawn again for it. */
function useStable<A extends unknown[]>(act: (...given: A) => void): (...given: A) => void {
  const now = useRef(act);
  useEffect(() => {
    now.current = act;
  });
  return useCallback((...given: A) => now.current(...given), []);
}

/** Keeps the end in sight, unless the reader has gone up to read. */
function useStickyEnd(messages: readonly Said[], busy: boolean) {
  const end = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const stays = useRef(true);
  useEffect(() => {
    const shown = list.current;
    if (!shown) return;
    const look = () => {
      stays.current = shown.scrollHeight - shown.scrollTop - shown.clientHeight < NEAR_THE_END;
    };
    shown.addEventListener("scroll", look, { passive: true });
    return () => shown.removeEventListener("scroll", look);
  }, []);
  useEffect(() => {
    if (stays.current) end.current?.scrollIntoView({ block: "end" });
  }, [messages, busy]);
  return { end, list };
}
