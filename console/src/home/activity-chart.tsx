import { useEffect } from "react";

import { get } from "../api/client";
import { events } from "../api/events";
import type { Activity } from "../api/memories";
import { useAnswer } from "../parts/use-answer";
import { soonAfter } from "../parts/use-pages";
import { count } from "../words";

const [WIDTH, HEIGHT, STEP] = [300, 44, 10];

/** How many messages and memories were stored on each of the last days, as a small chart. Nothing where nothing was stored. */
export function ActivityChart({ path }: { path: string }) {
  const { answer, again } = useAnswer(path, (asked, signal) => get<Activity>(asked, signal));
  useEffect(() => events.listen(soonAfter(again)), [again]);
  if (!answer) return <div className="activity" aria-hidden="true" />;
  const messages = sum(answer.days.map((each) => each.messages));
  const memories = sum(answer.days.map((each) => each.memories));
  if (messages + memories === 0) return null;
  const atLeast = answer.complete ? "" : "at least ";
  const said = `Last ${answer.days.length} days: ${atLeast}${count(messages, "message")}, ${count(memories, "memory", "memories")}`;
  return (
    <figure className="activity">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${said}. ${busiest(answer)}`} preserveAspectRatio="none">
        {answer.days.map((each, at) => <Day key={each.date} day={each} x={at * STEP} most={Math.max(...answer.days.map(largest))} />)}
      </svg>
      <figcaption className="hint">
        <span>{said}</span>
        <span className="legend"><i className="of-messages" /> messages <i className="of-memories" /> memories</span>
      </figcaption>
    </figure>
  );
}

function Day({ day, x, most }: { day: Activity["days"][number]; x: number; most: number }) {
  const tall = (number: number) => (number === 0 ? 0 : Math.max(2, (number / most) * (HEIGHT - 2)));
  return (
    <g>
      <title>{`${dayName(day.date)}: ${count(day.messages, "message")}, ${count(day.memories, "memory", "memories")}`}</title>
      <rect className="whole" x={x} y={0} width={STEP} height={HEIGHT} />
      <rect className="of-messages" x={x + 1} y={HEIGHT - tall(day.messages)} width={4} height={tall(day.messages)} />
      <rect className="of-memories" x={x + 5} y={HEIGHT - tall(day.memories)} width={3} height={tall(day.memories)} />
    </g>
  );
}

function busiest({ days }: Activity): string {
  const most = days.reduce((one, other) => (largest(other) > largest(one) ? other : one));
  return `Most on ${dayName(most.date)}.`;
}

function dayName(date: string): string {
  return new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", timeZone: "UTC" }).format(new Date(`${date}T00:00:00Z`));
}

function largest({ messages, memories }: Activity["days"][number]): number {
  return Math.max(messages, memories);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => one + other, 0);
}
