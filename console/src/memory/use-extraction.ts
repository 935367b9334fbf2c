import { useEffect, useState } from "react";

import { post, Refusal, sentence, sessionPath } from "../api/client";
import type { Session } from "../api/shapes";
import { useHouse } from "../house";
import { toast } from "../parts/toasts";
import { count } from "../words";

const LOOK_EVERY = 5_000;

interface ExtractionNow {
  isBusy: boolean;
  /** Why the last one failed, in a sentence, as long as none has succeeded since. */
  failure: string | null;
  start: () => Promise<void>;
}

/** An extraction that was asked for and failed. */
interface Refused {
  id: string;
  why: string;
  /** Whether the conversation has waited for the server's own extraction since. */
  wasPending: boolean;
}

/** The extraction of one conversation: as the server does it by itself, and at once where that is asked for. */
export function useExtraction(session: Session | undefined, onChanged: () => void): ExtractionNow {
  const house = useHouse();
  const [busy, setBusy] = useState<string | null>(null);
  const [refused, setRefused] = useState<Refused | null>(null);
  const id = session?.external_id ?? null;
  const isPending = session?.memory_job_pending ?? false;
  // The server has tried again by itself since: how that went is noted on the conversation.
  if (refused !== null && refused.id === id && refused.wasPending !== isPending) setRefused(isPending ? { ...refused, wasPending: true } : null);
  // A failure of the server's own extraction is no event: it is noted on the conversation.
  useEffect(() => {
    if (id === null) return;
    void house.readSession(id);
    if (!isPending && busy !== id) return;
    const timer = setInterval(() => void house.readSession(id), LOOK_EVERY);
    return () => clearInterval(timer);
  }, [house, id, isPending, busy]);
  const start = async () => {
    if (id === null) return;
    setBusy(id);
    setRefused(null);
    try {
      const done = await post<{ appended: number; checked_messages: number }>(sessionPath(id, "/extract"));
      toast(extractedSentence(done));
      onChanged();
    } catch (error) {
      const isRunning = error instanceof Refusal && error.status === 409;
      if (isRunning) toast("Memories of this conversation are being extracted already. What is found appears here by itself.", { seconds: 10 });
      else setRefused({ id, why: sentence(error), wasPending: false });
      await house.readSession(id);
    } finally {
      setBusy((now) => (now === id ? null : now));
    }
  };
  return { isBusy: busy !== null && busy === id, failure: refused !== null && refused.id === id ? refused.why : (session?.last_extraction_error ?? null), start };
}

/** What an extraction did. */
export function extractedSentence({ appended, checked_messages: read }: { appended: number; checked_messages: number }): string {
  if (read === 0) return "Nothing new to read: all messages of this conversation have been read already.";
  return `Read ${count(read, "message")}: ${appended === 0 ? "nothing new worth remembering" : count(appended, "new memory", "new memories")}.`;
}
