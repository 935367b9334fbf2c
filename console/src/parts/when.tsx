import { useSyncExternalStore } from "react";

import { ago, day, exactly } from "../times";

const EVERY = 30_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/** One clock for all times that are shown. */
function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    now = Date.now();
    watchers.forEach((each) => each());
  }, EVERY);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** How long ago something was; exactly when, as long as the pointer rests on it. */
export function When({ moment }: { moment: string }) {
  const text = useSyncExternalStore(watch, () => ago(moment, Math.max(now, Date.parse(moment))));
  return <time dateTime={moment} title={exactly(moment)}>{text}</time>;
}

/** The day of something; exactly when, as long as the pointer rests on it. */
export function Day({ moment }: { moment: string }) {
  return <time dateTime={moment} title={exactly(moment)}>{day(moment)}</time>;
}
