/** The options of the middleware. */

import type { Cloister } from "../client.js";
import type { ContextRequest, Message, NewSession } from "../generated/schemas.js";
import { refuseUnknown } from "../options.js";
import { checkScope, refuseUnset } from "../scope.js";

const KNOWN = ["client", "session", "mode", "newSession", "context", "onError", "onRecord"];
const MODES = ["both", "recall", "record"];

export interface WithCloisterOptions {
  /** The client, narrowed to the user it speaks for. */
  client: Cloister;
  /** The `external_id` of the session. A session that does not exist is created, except in the mode `recall`. */
  session: string;
  /** `both` (default), `recall` without recording, or `record` without recalling. */
  mode?: "both" | "recall" | "record" | undefined;
  /** Fields of the session, if it has to be created. Without `project_id`: the project of the client, else of the key. */
  newSession?: Omit<NewSession, "external_id"> | undefined;
  /** What to recall, and how much. */
  context?: Omit<ContextRequest, "session_id" | "query"> | undefined;
  /** Called if memory fails; the model then answers without it. Without this, the call fails. */
  onError?: ((error: unknown, during: "recall" | "record") => void) | undefined;
  /** Called at the end of each turn that was recorded, or would have been. */
  onRecord?: ((outcome: RecordOutcome) => void) | undefined;
}

export interface RecordOutcome {
  /** The recorded messages: the user's and the reply, or one of them if the other has no text. */
  messages: Message[];
  /**
   * `session_moved`: the reply was not recorded, because text was recalled for it, and the session was then moved or
   * created anew, or its project shared or divided. `session_not_found`: nothing was recorded, because the session was
   * deleted during the turn, or moved out of reach. `aborted`: the reply was not recorded, because the stream was aborted
   * or cancelled before the model had finished.
   */
  leftOut?: "session_moved" | "session_not_found" | "aborted";
}

/**
 * Refuse options before anything is asked. What narrows a session has a value: left out of a request, it would mean nobody's. What
 * is returned is a copy: an application that uses its object again, for another user, changes no turn that has begun.
 */
export function checkedOptions(options: WithCloisterOptions): WithCloisterOptions {
  refuseUnknown(options, KNOWN, "withCloister");
  const { client, session, mode, newSession, context, onError, onRecord } = options;
  if (typeof client?.context !== "function") throw new TypeError("withCloister: `client` must be a Cloister.");
  if (typeof session !== "string" || session === "") throw new TypeError("withCloister: `session` must be the id of a session.");
  if (mode !== undefined && !MODES.includes(mode)) {
    throw new TypeError(`withCloister: \`mode\` must be one of ${MODES.join(", ")}.`);
  }
  if (context !== undefined) refuseUnset(context);
  const { userId, projectId } = client;
  const scope = { ...(userId === undefined ? {} : { userId }), ...(projectId === undefined ? {} : { projectId }) };
  checkScope({ body: newSession }, scope, "create_session");
  return { client, session, mode, newSession: asSent(newSession), context: asSent(context), onError, onRecord };
}

function asSent<Fields extends object>(fields: Fields | undefined): Fields | undefined {
  return fields === undefined ? undefined : (JSON.parse(JSON.stringify(fields)) as Fields);
}
