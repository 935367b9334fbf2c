import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { Session } from "../api/shapes";
import { RECALL_ONLY, useHouse, useHouseState } from "../house";
import { Icon } from "../parts/icon";
import { useAnchor, useArrival } from "../router";
import { useTab } from "../tab";
import { titleOf } from "../words";
import { Composer, type Attaching } from "./composer/composer";
import type { Attached } from "./composer/files";
import { Recalled } from "./drawer/recalled";
import { ChatHead } from "./head";
import { MessageList } from "./list";
import { DeleteMessage } from "./message/delete-message";
import { Message, type MessageActions } from "./message/message";
import { Writing } from "./message/reply";
import { EmptyChat, Nothing, placeOfNew } from "./new-chat";
import { notifyOfReply } from "./notifications";
import { questionOf, type Said } from "./talk/said";
import { useTalk } from "./talk/use-talk";
import { useSpoken } from "./use-spoken";

/** What is said to have a stopped reply continued: the model is given what it had written. */
const CONTINUE = "Continue.";
const LOST = "The server stopped before this reply was finished, so it wasn’t saved. What arrived stays here until you leave this page.";

/** The conversation of this tab. `inside` says whether it is shown in a window over another page. */
export function Chat({ inside = false }: { inside?: boolean }) {
  const { session, turn } = useTab();
  return <Conversation key={`${session} ${turn}`} id={session} inside={inside} />;
}

function Conversation({ id, inside }: { id: string; inside: boolean }) {
  const house = useHouse();
  const { projects, sessions, leaving, models, imageModels } = useHouseState();
  const chosen = useTab().place;
  const session = sessions.get(id);
  const place = session ? session.project_id : placeOfNew(chosen, house.me, projects);
  const named = useAnchor();
  const anchor = !inside && named?.startsWith("msg_") ? named : null;
  const title = titleOf(session, id);
  const [talk, state] = useTalk(id, place, anchor, () => notifyOfReply(title));
  const { messages, busy, phase, notice } = state;
  const [editing, setEditing] = useState<{ message: Said; text: string } | null>(null);
  const [deleting, setDeleting] = useState<Said | null>(null);
  const [drawer, setDrawer] = useDrawer();
  const [toEnd, setToEnd] = useState(0);
  const spoken = useSpoken(state);
  const arrival = useArrival();
  const composer = useRef<Attaching>(null);

  useEffect(() => {
    if (anchor !== null && phase === "here") void talk.openAt(anchor);
  }, [talk, anchor, arrival, phase]);

  const isNew = phase === "new" && messages.length === 0;
  const isEmpty = phase === "here" && messages.length === 0 && !busy;
  const shownTitle = isNew ? "New chat" : phase === "missing" ? "Not found" : phase === "gone" ? "Deleted chat" : title;
  useEffect(() => {
    document.title = isNew ? "Cloister" : `${shownTitle} · Cloister`;
  }, [isNew, shownTitle]);

  const resend = useStable(async (message: Said, text: string) => {
    setEditing(null);
    if (!(await talk.edit(message, text))) setEditing({ message, text });
  });
  const edit = useStable((message: Said | null) => {
    setEditing(message && { message, text: message.text });
    if (message === null) document.getElementById("composer")?.focus();
  });
  const newest = messages.findLast((message) => message.receipt !== null && message.id !== null);
  const asked = drawer === null ? undefined : drawer.follows ? newest : messages.find((message) => message.id === drawer.message);
  const open = useStable((message: Said) => setDrawer(message.id === null || message.id === asked?.id ? null : { message: message.id, follows: message === newest }));
  const send = useStable((text: string, files: readonly Attached[]) => {
    setToEnd((before) => before + 1);
    return talk.send(text, files);
  });
  const actions = useMemo<MessageActions>(
    () => ({
      onEdit: edit,
      onResend: (message, text) => void resend(message, text),
      onRegenerate: (message) => void talk.regenerate(message),
      onContinue: () => {
        if (!talk.isBusy) void send(CONTINUE, []);
      },
      onRecalled: open,
      onChoose: (message) => void talk.choose(message),
      onDelete: setDeleting,
    }),
    [talk, edit, resend, send, open, setDeleting],
  );
  const last = messages.at(-1);
  const model = session?.model ?? models?.[0];
  const isLeaving = leaving.has(id);
  const awaited = busy && last?.status !== "writing";
  const isLost = last?.status === "lost";
  const unanswered = !busy && phase === "here" && (isLost || (last?.role === "user" && last.id !== null)) && house.mayWrite;
  return (
    <div className={asked ? "chat with-drawer" : "chat"}>
      <section
        className="conversation"
        aria-label={shownTitle}
        onDragOver={(event) => event.dataTransfer.types.includes("Files") && event.preventDefault()}
        onDrop={(event) => {
          if (event.dataTransfer.files.length === 0) return;
          event.preventDefault();
          composer.current?.attach([...event.dataTransfer.files]);
        }}
      >
        <ChatHead title={shownTitle} session={shownSession(session, phase === "gone" || isLeaving)} id={id} isNew={isNew} place={place} />
        <MessageList
          talk={talk}
          state={state}
          anchor={anchor}
          arrival={arrival}
          toEnd={toEnd}
          before={
            <>
              {(isNew || isEmpty) && <EmptyChat place={place} isNew={isNew} />}
              {phase === "gone" && <Nothing said="This conversation was deleted." />}
              {phase === "missing" && <Nothing said="There is no conversation at this address. It may have been deleted, or belong to somebody else." />}
              {phase === "loading" && <p className="unseen" role="status">Loading…</p>}
              {phase === "refused" && <Nothing said="The server did not show this conversation." onRetry={() => void talk.retry()} />}
              {phase === "unreachable" && messages.length === 0 && <p className="empty">The server can’t be reached. Trying again…</p>}
            </>
          }
          after={
            <>
              {awaited && <article className="message reply" aria-label="Reply" aria-busy="true"><Writing begun={false} /></article>}
              {unanswered && (
                <p className="unanswered">
                  <span>{isLost ? LOST : "No reply yet."}</span>{" "}
                  <button type="button" className="link" onClick={() => void talk.regenerate(null)}>{isLost ? "Regenerate" : "Get a reply"}</button>
                </p>
              )}
            </>
          }
        >
          {(message) => (
            <Message
              key={message.key}
              message={message}
              session={id}
              versions={message.id === null ? undefined : state.versions.get(message.id)}
              locked={busy || !house.mayWrite || isLeaving}
              editing={editing?.message.key === message.key ? editing.text : null}
              isFresh={state.fresh.has(message.key)}
              mayContinue={message === last && !state.hasNewer && model !== RECALL_ONLY}
              isFound={anchor !== null && message.id === anchor}
              actions={actions}
            />
          )}
        </MessageList>
        <div className="below">
          {notice && (
            <p className={`notice ${notice.tone}`} role="alert">
              <span dir="auto">{notice.text}</span>
              <button type="button" className="quiet" onClick={talk.dismiss} aria-label="Dismiss"><Icon name="close" /></button>
            </p>
          )}
          <Composer
            ref={composer}
            key={inside ? "inside" : "page"}
            session={id}
            busy={busy}
            disabled={!house.mayWrite || phase === "gone" || phase === "missing" || phase === "loading" || isLeaving}
            takesImages={imageModels.has(model ?? "")}
            onSend={send}
            onStop={() => void talk.stop()}
            onEditLast={() => {
              const said = messages.findLast((each) => each.role === "user" && !each.attachment);
              if (said?.id) edit(said);
            }}
          />
        </div>
        <p className="unseen" role="status" aria-live="polite">{spoken}</p>
      </section>
      {deleting?.id && (
        <DeleteMessage talk={talk} message={deleting.id} versions={state.versions.get(deleting.id)} onClose={() => setDeleting(null)} />
      )}
      {asked?.id && (
        <Recalled key={drawer?.message} session={id} project={place} message={asked.id} question={questionOf(messages, asked)} onClose={() => setDrawer(null)} />
      )}
    </div>
  );
}

function shownSession(session: Session | undefined, isLeaving: boolean): Session | null {
  return session && !isLeaving ? session : null;
}

/** The reply that was opened; with `follows`, the newest one at any time. */
interface Opened {
  message: string;
  follows: boolean;
}

/** The drawer of one reply. Escape closes it, and what had the focus before has it again. */
function useDrawer(): [opened: Opened | null, show: (opened: Opened | null) => void] {
  const [opened, setOpened] = useState<Opened | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const show = useCallback((next: Opened | null) => {
    if (next !== null) opener.current = document.activeElement as HTMLElement | null;
    else opener.current?.focus({ preventScroll: true });
    setOpened(next);
  }, []);
  useEffect(() => {
    if (opened === null) return;
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]:not(.over)")) return;
      event.preventDefault();
      show(null);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [opened, show]);
  return [opened, show];
}

/** A function that stays the same while what it does changes: messages are not drawn again for it. */
function useStable<A extends unknown[], R>(act: (...given: A) => R): (...given: A) => R {
  const now = useRef(act);
  useEffect(() => {
    now.current = act;
  });
  return useCallback((...given: A) => now.current(...given), []);
}
