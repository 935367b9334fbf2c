/** What the types refuse. Checked by `tsc` and never run. */

import type { Cloister, ErrorCode, Session } from "@cloister/client";
import { withCloister } from "@cloister/client/ai-sdk";
import type { streamText } from "ai";

export async function refused(client: Cloister): Promise<Session> {
  // @ts-expect-error: a field that is not known
  await client.sessions.create({ colour: "blue" });
  // @ts-expect-error: a role that is not known
  await client.messages.record("monday", { role: "narrator", content: "Once." });
  // @ts-expect-error: a missing part of the path
  await client.call("get_session", {});
  // @ts-expect-error: an operation that is not known
  await client.call("get_sessions", {});
  // @ts-expect-error: an option of writes only
  await client.sessions.get("monday", { wait: "indexed" });
  // @ts-expect-error: an option that is not known
  client.narrowed({ user: "ada" });
  // @ts-expect-error: nothing to narrow to
  client.narrowed({});
  const user: { id: string } | undefined = [{ id: "ada" }].at(0);
  // @ts-expect-error: perhaps nobody
  client.narrowed({ userId: user?.id });
  // @ts-expect-error: perhaps nobody, beside a project
  client.narrowed({ userId: user?.id, projectId: "proj_0000000000000001" });
  // @ts-expect-error: perhaps everybody's
  await client.sessions.list({ user_id: user?.id }).page();
  // @ts-expect-error: perhaps everybody's
  await client.search({ query: "boat", user_id: user?.id ?? null });
  // @ts-expect-error: perhaps the whole project
  await client.search({ query: "boat", session_id: user?.id ?? null });
  await client.sessions.create({ user_id: user?.id ?? null });
  // @ts-expect-error: perhaps no rehearsal
  await client.users.erase("ada", { dryRun: [true].at(0) });
  // @ts-expect-error: a code that is not known
  const code: ErrorCode = "not found";
  return await client.call("create_session", { body: { external_id: code } });
}

type Model = Parameters<typeof streamText>[0]["model"];

export function accepted(model: Parameters<typeof withCloister>[0], client: Cloister): Model {
  // @ts-expect-error: without a session
  withCloister(model, { client });
  return withCloister(model, { client, session: "monday", mode: "both" });
}
