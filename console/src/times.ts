/** Times as people say them, in the language of the reader's browser. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in short: for lists. */
export function ago(moment: string, now = Date.now(), locale?: string): string {
  const passed = now - Date.parse(moment);
  if (passed < MINUTE) return new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "narrow" }).format(0, "second");
  const format = new Intl.RelativeTimeFormat(locale, { style: "narrow" });
  if (passed < HOUR) return format.format(-Math.floor(passed / MINUTE), "minute");
  if (passed < DAY) return format.format(-Math.floor(passed / HOUR), "hour");
  if (passed < 7 * DAY) return format.format(-Math.floor(passed / DAY), "day");
  return day(moment, now, locale);
}

/** The day; with its year only if that is not this one. */
export function day(moment: string, now = Date.now(), locale?: string): string {
  const date = new Date(moment);
  const thisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString(locale, { day: "numeric", month: "short", ...(thisYear ? {} : { year: "numeric" }) });
}

/** Exact to the minute, with the day of the week: what is shown when the pointer rests on a time. */
export function exactly(moment: string, locale?: string): string {
  return new Date(moment).toLocaleString(locale, { dateStyle: "full", timeStyle: "short" });
}
