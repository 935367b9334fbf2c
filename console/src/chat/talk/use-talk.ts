import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";

import { changeSession } from "../../api/sessions";
import { useHouse, type House } from "../../house";
import { tab } from "../../tab";
import { titleFrom } from "../../words";
import type { TalkState } from "./state";
import { Talk } from "./talk";

/** The conversation with this id, read and followed as long as it is shown; opened at a message if one is named. */
export function useTalk(session: string, project: string | null, at: string | null, onReplied: () => void): [Talk, TalkState] {
  const house = useHouse();
  const talk = useMemo(
    () =>
      new Talk(session, {
        mayExist: () => house.now.sessions.has(session) || tab.address !== "/",
        isAddressed: () => tab.address !== "/",
        isListed: () => house.now.sessions.has(session),
        onExists: async (firstWords) => {
          tab.nameInAddress(session);
          if (firstWords !== null) await entitle(house, session, firstWords);
        },
      }),
    [session, house],
  );
  useEffect(() => talk.give(project, onReplied));
  const first = useRef(at);
  useEffect(() => talk.open(first.current), [talk]);
  return [talk, useSyncExternalStore(talk.watch, () => talk.now)];
}

async function entitle(house: House, session: string, words: string): Promise<void> {
  try {
    await changeSession(session, { title: titleFrom(words) });
  } catch {
    // Without a title it is called untitled, and can be renamed.
  }
  await house.readSession(session);
}
