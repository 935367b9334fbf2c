/** Reads a reply as it is written: the server-sent events of a chat turn, in the format of the AI SDK's UI message stream. */

import { checkedFetch, Refusal, segment } from "../../api/client";
import type { Context, Status } from "../../api/shapes";
import type { Picture } from "../composer/images";

const SHOW_EVERY = 40;
/** A turn whose server was killed ends by itself, within seconds: so often, and after so long each time, it is asked for again. */
const RETRIES = 10;
const RETRY_AFTER = 1_000;

/** What the last event of a turn says about the reply. */
export interface ReplyEnd {
  message_id: string | null;
  question_id?: string | null;
  status: Status;
  receipt_id?: string | null;
  is_current?: boolean;
}

export interface ReplyReader {
  onContext: (context: Context) => void;
  onText: (delta: string) => void;
}

export interface FinishedReply {
  end: ReplyEnd | null;
  error: string | null;
}

interface StreamEvent {
  type: string;
  delta?: string;
  data?: Context;
  messageMetadata?: ReplyEnd;
  errorText?: string;
}

/** The connection broke before the reply ended. */
export class CutOff extends Error {
  constructor() {
    super("The connection was lost while the reply was being written.");
    this.name = "CutOff";
  }
}

export interface TurnRequest {
  id: string;
  text: string;
  images?: readonly Picture[];
  trigger: "submit-message" | "regenerate-message";
  /** The message that is edited, or the reply that is made again. */
  messageId?: string;
  /** The project of a session that does not exist yet. */
  project?: string | null;
}

function startTurn({ id, text, images = [], trigger, messageId, project }: TurnRequest): Promise<Response> {
  return checkedFetch("/v1/chat/stream", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      id,
      messages: [{ role: "user", parts: [{ type: "text", text }, ...images.map(({ name, mediaType, url }) => ({ type: "file", filename: name, mediaType, url }))] }],
      trigger,
      ...(messageId === undefined ? {} : { messageId }),
      ...(project === undefined ? {} : { project_id: project }),
    }),
  });
}

/** Begin a turn. One that nobody answers any more, because its server was killed, is waited for until it has ended. */
export async function startTurnInTime(request: TurnRequest): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startTurn(request);
    } catch (error) {
      if (!(error instanceof Refusal && error.code === "turn_in_progress") || attempt > RETRIES) throw error;
      const running = await followTurn(request.id);
      if (running !== null) {
        await running.body?.cancel();
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
    }
  }
}

/** The stream of the turn that is running in a session; null if none is. */
export async function followTurn(session: string): Promise<Response | null> {
  const response = await checkedFetch(turnPath(session, "stream"));
  return response.status === 200 ? response : null;
}

export function turnPath(session: string, what: "stream" | "stop"): string {
  return `/v1/chat/${segment(session)}/${what}`;
}

/** Read a reply to its end. Raises `CutOff` if the stream ends before the reply does. */
export async function readReply(response: Response, reader: ReplyReader): Promise<FinishedReply> {
  const finished: FinishedReply = { end: null, error: null };
  try {
    for await (const event of eventsOf(response)) {
      if (event.type === "data-context" && event.data) reader.onContext(event.data);
      else if (event.type === "text-delta" && event.delta) reader.onText(event.delta);
      else if (event.type === "error") finished.error = event.errorText ?? "The reply failed.";
      if (event.messageMetadata) finished.end = event.messageMetadata;
    }
  } catch {
    throw new CutOff();
  }
  if (finished.end === null && finished.error === null) throw new CutOff();
  return finished;
}

/** Read a reply to its end, and show what has arrived no more often than the eye can follow. */
export async function readShown(response: Response, show: (arrived: { text: string; context: Context | null }) => void): Promise<FinishedReply> {
  const arrived: { text: string; context: Context | null } = { text: "", context: null };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const put = () => {
    timer = undefined;
    show({ ...arrived });
  };
  const soon = () => {
    timer ??= setTimeout(put, SHOW_EVERY);
  };
  try {
    return await readReply(response, {
      onContext: (given) => {
        arrived.context = given;
        soon();
      },
      onText: (delta) => {
        arrived.text += delta;
        soon();
      },
    });
  } finally {
    clearTimeout(timer);
    if (arrived.text || arrived.context) put();
  }
}

async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const data = line.startsWith("data:") ? line.slice(5).trim() : "";
      if (data && data !== "[DONE]") yield JSON.parse(data) as StreamEvent;
    }
  }
}
