import { useHouseState } from "../house";
import { usePath } from "../router";
import { Page } from "../parts/page";
import { EntitiesPart } from "./entities-part";
import { SessionPart } from "./session-part";
import { UserPart } from "./user-part";

const PARTS = [
  ["/memory", "By conversation"],
  ["/memory/user", "By user"],
  ["/memory/entities", "Entities"],
] as const;

export function MemoryPage() {
  const path = usePath();
  const hasUsers = [...useHouseState().sessions.values()].some((each) => each.user_id !== null);
  // Where nobody tells users apart, there is nothing to see by user.
  const parts = PARTS.filter(([to]) => to !== "/memory/user" || hasUsers || path === to);
  return (
    <Page title="Memory" parts={parts}>
      {path === "/memory/user" ? <UserPart /> : path === "/memory/entities" ? <EntitiesPart /> : <SessionPart />}
    </Page>
  );
}
