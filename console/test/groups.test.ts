import { describe, expect, it } from "vitest";

import type { Session } from "../src/api/shapes";
import { byDate, newestFirst } from "../src/sidebar/groups";

// Times of the reader's own clock, as the groups count days.
const NOW = new Date(2026, 4, 20, 15, 30).getTime();

function said(...moment: [year: number, month: number, day: number, hour?: number, minute?: number]): Session {
  const [year, month, day, hour = 12, minute = 0] = moment;
  const updated_at = new Date(year, month - 1, day, hour, minute).toISOString();
  return { external_id: updated_at, updated_at } as Session;
}

function labels(...sessions: Session[]): string[] {
  return byDate(newestFirst(sessions), NOW).map(({ label, sessions: each }) => `${label}: ${each.length}`);
}

describe("conversations stand under", () => {
  it("today and yesterday, from midnight to midnight", () => {
    expect(labels(said(2026, 5, 20, 0, 0), said(2026, 5, 19, 23, 59), said(2026, 5, 19, 0, 0), said(2026, 5, 18, 23, 59))).toEqual(["Today: 1", "Yesterday: 2", "Previous 7 days: 1"]);
  });

  it("the previous 7 and 30 days, then their month and year", () => {
    const month = (year: number, number: number) => new Date(year, number - 1, 1).toLocaleDateString(undefined, { month: "long", year: "numeric" });
    expect(labels(said(2026, 5, 13), said(2026, 5, 12), said(2026, 4, 20), said(2026, 4, 19), said(2026, 4, 2), said(2025, 4, 2))).toEqual([
      "Previous 7 days: 1",
      "Previous 30 days: 2",
      `${month(2026, 4)}: 2`,
      `${month(2025, 4)}: 1`,
    ]);
  });

  it("nothing, when there are none", () => {
    expect(labels()).toEqual([]);
  });

  it("today, where a clock runs ahead", () => {
    expect(labels(said(2026, 5, 21))).toEqual(["Today: 1"]);
  });
});
