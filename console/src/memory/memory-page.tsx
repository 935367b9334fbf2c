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
  return (
    <Page title="Memory" parts={PARTS}>
      {path === "/memory/user" ? <UserPart /> : path === "/memory/entities" ? <EntitiesPart /> : <SessionPart />}
    </Page>
  );
}
