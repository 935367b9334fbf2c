/** One conversation, in step with the server: what it keeps is what is shown, and a running turn is followed whoever began it. */

import { useChat } from "@ai-sdk/react";
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";

import { all, checkedFetch, patch, post, Refusal, remove, sentence, sessionPath } from "../api/client";
import { events, type HouseEvent } from "../api/events";
import type { Context, StoredMessage } from "../api/shapes";
import { useHouse } from "../house";
import { titleFrom } from "../words";
import { drafts } from "./drafts";
import { contextOf, fromStored, upToTheQuestion, type Said } from "./said";
import { chatPath, newTransport } from "./transport";

const SOON = 80;

/** `new`: nothing was said yet, and the server knows nothing of it. */
export type Phase = "loading" | "new" | "here" | "gone" | "unreachable";

export interface Notice {
  tone: "calm" | "trouble";
  text: string;
}

export interface Conversation {
  phase: Phase;
  messages: Said[];
  /** Words are awaited or coming, from here or from another tab. */
  busy: boolean;
  notice: Notice | null;
  send: (text: string) => Promise<void>;
  retry: () => Promise<void>;
  resend: (message: Said, text: string) => Promise<void>;
  stop: () => Promise<void>;
  dismiss: () => void;
}

const IN_PROGRESS: Notice = {
  tone: "calm",
  text: "A reply is being written in this conversation already, so yours was not sent. It is shown as it comes; then send yours.",
};

export function useConversation(session: string, place: string | null): Conversation {
  const house = useHouse();
  const [phase, setPhase] = useState<Phase>("loading");
  const [notice, setNotice] = useState<Notice | null>(null);
  const [waiting, setWaiting] = useState(false);
  const exists = useRef(false);
  /** What the user said, as the server keeps it. */
  const kept = useRef<readonly string[]>([]);
  /** What was sent, until the server is known to have kept it, or not to. */
  const pending = useRef<string | null>(null);
  const failure = useRef<Error | null>(null);
  const running = useRef(false);
  const contexts = useRef(new Map<string, Context>());
  const wanted = useRef(place);
  useEffect(() => {
    wanted.current = place;
  }, [place]);

  const transport = useMemo(
    () =>
      newTransport({
        place: () => (exists.current ? undefined : wanted.current),
        onKept: () => {
          const words = pending.current;
          pending.current = null;
          if (!exists.current && words !== null) void entitle(session, words).then(() => house.readSession(session));
          exists.current = true;
          setPhase("here");
        },
      }),
    [session, house],
  );
  const chat = useChat<Said>({
    id: session,
    transport,
    throttle: 40,
    onError: (error) => {
      failure.current = error;
    },
    onFinish: ({ message }) => {
      const [id, context] = [message.metadata?.message_id, contextOf(message)];
      if (id && context) contexts.current.set(id, context);
    },
  });
  const streaming = chat.status === "submitted" || chat.status === "streaming";

  /** Whether the server could be asked. */
  async function reload(): Promise<boolean> {
    try {
      const stored = await all<StoredMessage>(sessionPath(session, "/messages"));
      if (running.current) return true;
      exists.current = true;
      kept.current = stored.flatMap((message) => (message.role === "user" ? message.content : []));
      chat.setMessages(stored.flatMap((message) => fromStored(message, contexts.current.get(message.id)) ?? []));
      setPhase("here");
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === "not_found") {
        if (running.current) return true;
        const was = exists.current;
        exists.current = false;
        kept.current = [];
        chat.setMessages([]);
        setPhase(was ? "gone" : "new");
        return true;
      }
      setPhase((before) => (before === "loading" ? "unreachable" : before));
      return false;
    }
  }

  /** What the server keeps, and the turn that runs there, if one does. */
  async function catchUp(): Promise<void> {
    if (running.current) return;
    const before = kept.current.length;
    if (!(await reload()) || isBusy()) return;
    settle(before);
    if (exists.current && (await isRunning(session)) && !isBusy()) {
      await run(async () => {
        chat.setMessages(upToTheQuestion);
        await chat.resumeStream();
      });
    }
  }

  /** What came back and is among what is new on the server was kept after all: only the answer to it was lost. */
  function settle(before: number): void {
    const words = pending.current;
    pending.current = null;
    if (words !== null && kept.current.slice(before).includes(words)) drafts.takeBack(session, words);
  }

  async function run(act: () => Promise<void>): Promise<void> {
    running.current = true;
    failure.current = null;
    setWaiting(true);
    chat.clearError();
    const before = kept.current.length;
    try {
      await act();
    } catch (error) {
      failure.current = error instanceof Error ? error : new Error(String(error));
    } finally {
      running.current = false;
    }
    const error = takeFailure(failure);
    if (error instanceof Refusal && error.code === "turn_in_progress") setNotice(IN_PROGRESS);
    else if (error !== null) setNotice({ tone: "trouble", text: sentence(error) });
    // At once: nobody knows when the server can be asked whether it kept them.
    if (error !== null && pending.current !== null) drafts.giveBack(session, pending.current);
    const known = await reload();
    // Not before: what was said last has its id only now, and cannot be edited without it.
    setWaiting(isBusy());
    if (error === null || !known || isBusy()) return;
    settle(before);
    await catchUp();
  }

  const hear = useEffectEvent((event: HouseEvent, soon: () => void) => {
    if (event.type === "reset") soon();
    else if (event.session_id !== session) return;
    else if (event.type === "session.deleted") void reload();
    else soon();
  });
  const begin = useEffectEvent(() => void catchUp());

  useEffect(() => {
    begin();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => begin(), SOON);
    };
    const stop = events.listen((event) => hear(event, soon));
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [session]);

  function isBusy(): boolean {
    return running.current;
  }

  async function send(text: string): Promise<void> {
    setNotice(null);
    pending.current = text;
    await run(() => chat.sendMessage({ text }));
  }

  return {
    phase,
    messages: chat.messages,
    busy: streaming || waiting,
    notice,
    dismiss: () => setNotice(null),
    send,
    retry: async () => {
      setNotice(null);
      await run(() => chat.regenerate());
    },
    /** The message and all that came after it are forgotten, last first; then it is said anew. */
    resend: async (message, text) => {
      const from = chat.messages.findIndex((each) => each.id === message.id);
      const ids = chat.messages.slice(from).flatMap((each) => each.metadata?.message_id ?? []);
      try {
        for (const id of ids.reverse()) await remove(`/v1/messages/${id}`);
      } catch (error) {
        setNotice({ tone: "trouble", text: sentence(error) });
        drafts.giveBack(session, text);
        await reload();
        return;
      }
      chat.setMessages((messages) => messages.slice(0, from));
      kept.current = [];
      await send(text);
    },
    stop: async () => {
      try {
        await post(chatPath(session, "stop"));
      } catch (error) {
        setNotice({ tone: "trouble", text: sentence(error) });
        await chat.stop();
      }
    },
  };
}

/** Asked apart from following it: what is shown is only taken back when there is something to come. */
async function isRunning(session: string): Promise<boolean> {
  const control = new AbortController();
  try {
    const response = await checkedFetch(chatPath(session, "stream"), { signal: control.signal });
    return response.status === 200;
  } catch {
    return false;
  } finally {
    control.abort();
  }
}

async function entitle(session: string, words: string): Promise<void> {
  try {
    await patch(sessionPath(session), { title: titleFrom(words) });
  } catch {
    // Without a title it is called untitled, and can be renamed.
  }
}

function takeFailure(failure: { current: Error | null }): Error | null {
  const error = failure.current;
  failure.current = null;
  return error;
}
