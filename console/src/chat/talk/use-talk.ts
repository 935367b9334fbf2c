import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";

import { changeSession, findSession, titleSession } from "../../api/sessions";
import { useHouse, type House } from "../../house";
import { tab } from "../../tab";
import { titleFrom } from "../../words";
import type { TalkHost, TalkState } from "./state";
import { Talk } from "./talk";

/** The conversation with this id, read and followed as long as it is shown; opened at a message if one is named. */
export function useTalk(session: string, project: string | null, at: string | null, onReplied: () => void): [Talk, TalkState] {
  const house = useHouse();
  const talk = useMemo(() => new Talk(session, hostOf(house, session)), [session, house]);
  useEffect(() => talk.give(project, onReplied));
  const first = useRef(at);
  useEffect(() => talk.open(first.current), [talk]);
  return [talk, useSyncExternalStore(talk.watch, () => talk.now)];
}

function hostOf(house: House, session: string): TalkHost {
  let firstTitle: Promise<string | null> = Promise.resolve(null);
  return {
    mayExist: () => house.now.sessions.has(session) || tab.address !== "/",
    isAddressed: () => tab.address !== "/",
    isListed: () => house.now.sessions.has(session),
    onExists: async (firstWords) => {
      tab.nameInAddress(session);
      if (firstWords === null) return;
      firstTitle = entitle(session, firstWords);
      await firstTitle;
      await house.readSession(session);
    },
    onReplied: async (firstWords) => {
      const title = (await firstTitle) ?? (isLeftToUs(house, session, firstWords) && firstWords !== null ? titleFrom(firstWords) : null);
      firstTitle = Promise.resolve(null);
      if (title !== null && house.hasModel) await improveTitle(session, title);
    },
  };
}

/** Whether a conversation is called by its first words, by a page that was left since: no other tab is there to find a better title. */
function isLeftToUs(house: House, session: string, firstWords: string | null): boolean {
  if (firstWords === null || [...tab.sessionsElsewhere.values()].includes(session)) return false;
  return house.now.sessions.get(session)?.title === titleFrom(firstWords);
}

/** Call a conversation by its first words, unless it has a title: it may have been given one before anything was said in it. */
async function entitle(session: string, words: string): Promise<string | null> {
  try {
    const stored = await findSession(session);
    if (stored?.title !== null) return null;
    const title = titleFrom(words);
    await changeSession(session, { title });
    return title;
  } catch {
    // Without a title it is called untitled, and can be renamed.
    return null;
  }
}

/** Have the model find a better title than the first words. The lists hear of it by its event. */
async function improveTitle(session: string, replaces: string): Promise<void> {
  try {
    await titleSession(session, replaces);
  } catch {
    // The first words stay.
  }
}
