/** Turns of one session: recall at their first step, record at their end. */

import { isCloisterError } from "../errors.js";
import type { Context, Message, NewMessage } from "../generated/schemas.js";
import type { RecordOutcome, WithCloisterOptions } from "./options.js";
import { storable } from "./prompt.js";
import type { Asked } from "./prompt.js";
import { quotedContext } from "./quotation.js";

/** Turns that wait for the results of tools. A forgotten one recalls again. */
const MOST_WAITING = 32;
/** A reply that was filtered, interrupted or failed is not what the assistant said. */
const COMPLETE = ["stop", "length", "other", "unknown"];

/** Characters of a question that are searched for. The server takes no more; the rest of a long paste says little new. */
const LONGEST_QUERY = 65_000;
/** Of a server that gives none, because it is older or cannot write: it refuses this, and the reply is not recorded. */
const NO_TOKEN = "";

export interface Turn {
  asked: Asked | undefined;
  /** The recalled text of this step. */
  recalled: string;
  /** The project in which text was recalled for this turn; undefined if none was. */
  recalledIn: string | null | undefined;
  /** The token of the context, if text of it was recalled: the reply is recorded only where that came from. */
  unmovedToken: string | undefined;
  /** Whether the session was seen to exist when the turn began. */
  existed: boolean;
}

export class Turns {
  readonly #options: WithCloisterOptions;
  readonly #waiting = new Map<string, Turn>();

  constructor(options: WithCloisterOptions) {
    this.#options = options;
  }

  /** The turn of a prompt: a new one, or the one whose tools have answered. */
  async begin(asked: Asked | undefined, signal: AbortSignal | undefined): Promise<Turn> {
    const turn: Turn = { asked, recalled: "", recalledIn: undefined, unmovedToken: undefined, existed: false };
    if (asked === undefined) return turn;
    const recalls = this.#options.mode !== "record" && asked.question !== "";
    try {
      if (!recalls) {
        if (this.#options.mode !== "recall" && asked.isFirstStep) await this.#ensure(signal);
        return turn;
      }
      const waiting = asked.isFirstStep ? undefined : this.#waiting.get(keyOf(asked));
      return waiting === undefined ? await this.#recall(turn, asked, signal) : await this.#goOn(waiting, asked, signal);
    } catch (error) {
      this.#fail(error, recalls ? "recall" : "record", signal);
      return turn;
    }
  }

  /** The end of a step, which is the end of the turn unless tools were called. */
  async finish(turn: Turn | undefined, reply: string, reason: string): Promise<void> {
    if (turn?.asked === undefined || reason === "tool-calls") return;
    this.#waiting.delete(keyOf(turn.asked));
    if (this.#options.mode === "recall" || !COMPLETE.includes(reason)) return;
    const whole = [...turn.asked.said, reply].filter((text) => text !== "").join("\n\n");
    await this.#report(turn, this.#record(turn, turn.asked.question, whole));
  }

  /** The end of a turn whose reader stopped it: the words of the user are recorded, and nothing that the model said. */
  async stop(turn: Turn | undefined): Promise<void> {
    if (turn?.asked === undefined) return;
    this.#waiting.delete(keyOf(turn.asked));
    if (this.#options.mode === "recall") return;
    const recording = this.#append(asUser(turn.asked.question));
    await this.#report(turn, recording.then((messages) => ({ messages, leftOut: "aborted" })));
  }

  async #report(turn: Turn, recording: Promise<RecordOutcome>): Promise<void> {
    let outcome: RecordOutcome;
    try {
      outcome = await recording;
    } catch (error) {
      if (!turn.existed || !isMissingSession(error)) return this.#fail(error, "record", undefined);
      // The session was deleted while the model answered. It is not created again.
      outcome = { messages: [], leftOut: "session_not_found" };
    }
    this.#options.onRecord?.(outcome);
  }

  async #recall(turn: Turn, asked: Asked, signal: AbortSignal | undefined): Promise<Turn> {
    const context = await this.#context(storable(asked.question.slice(0, LONGEST_QUERY)), signal);
    const recalled = quotedContext(context, await this.#userOf(context, signal));
    const begun: Turn = { ...turn, recalled, existed: true };
    if (recalled !== "") {
      begun.recalledIn = context.project_id;
      begun.unmovedToken = context.unmoved_token ?? NO_TOKEN;
    }
    this.#waiting.delete(keyOf(asked));
    this.#waiting.set(keyOf(asked), begun);
    for (const [oldest] of this.#waiting) {
      if (this.#waiting.size <= MOST_WAITING) break;
      this.#waiting.delete(oldest);
    }
    return begun;
  }

  /** A later step: the same recalled text, unless the session has moved out of the project in which it was recalled. */
  async #goOn(waiting: Turn, asked: Asked, signal: AbortSignal | undefined): Promise<Turn> {
    const turn = { ...waiting, asked };
    if (turn.recalledIn === undefined || (await this.#isIn(turn.recalledIn, signal))) return turn;
    return { ...turn, recalled: "" };
  }

  async #context(query: string, signal: AbortSignal | undefined): Promise<Context> {
    const { client, session, context } = this.#options;
    const ask = async (): Promise<Context> => await client.context({ ...context, session_id: session, query }, { signal });
    try {
      return await ask();
    } catch (error) {
      if (this.#options.mode === "recall" || !isMissingSession(error)) throw error;
    }
    await this.#ensure(signal);
    return await ask();
  }

  /** The user of the session, whose words need no name. Asked for only if the client and the context do not say it. */
  async #userOf(context: Context, signal: AbortSignal | undefined): Promise<string | null> {
    const { client, session } = this.#options;
    if (client.userId !== undefined) return client.userId;
    const [said] = context.current_conversation;
    if (said !== undefined) return said.user_id;
    if (context.relevant_history.length === 0) return null;
    return (await client.sessions.get(session, { signal })).user_id;
  }

  /** Create the session unless it exists. Needs no permission to read. */
  async #ensure(signal: AbortSignal | undefined): Promise<void> {
    const { client, session, newSession } = this.#options;
    try {
      await client.sessions.create({ ...newSession, external_id: session }, { signal });
    } catch (error) {
      // It exists, with other fields.
      if (!isCloisterError(error, "conflict")) throw error;
    }
  }

  async #isIn(project: string | null, signal: AbortSignal | undefined): Promise<boolean> {
    const { client, session } = this.#options;
    return (await client.sessions.get(session, { signal })).project_id === project;
  }

  /**
   * Record both messages. If text was recalled for the reply, the server records it only where that text came from: it may
   * quote it. Where the session was moved or created anew, or its project shared or divided meanwhile, only the words of the
   * user are recorded, as the chat of the server does.
   */
  async #record(turn: Turn, question: string, reply: string): Promise<RecordOutcome> {
    const said = asUser(question);
    const replied: NewMessage[] = reply === "" ? [] : [{ role: "assistant", content: reply }];
    try {
      return { messages: await this.#append([...said, ...replied], turn.unmovedToken) };
    } catch (error) {
      if (turn.unmovedToken === undefined || !isCloisterError(error, "conflict")) throw error;
      return { messages: await this.#append(said), leftOut: "session_moved" };
    }
  }

  async #append(messages: NewMessage[], ifUnmovedSince?: string): Promise<Message[]> {
    const { client, session } = this.#options;
    if (messages.length === 0) return [];
    return await client.messages.recordAll(session, messages, { ifUnmovedSince });
  }

  #fail(error: unknown, during: "recall" | "record", signal: AbortSignal | undefined): void {
    if (signal?.aborted || this.#options.onError === undefined) throw error;
    this.#options.onError(error, during);
  }
}

function isMissingSession(error: unknown): boolean {
  return isCloisterError(error, "not_found") && error.kind === "session";
}

/** Steps of one turn have the same message of the user, at the same position. */
function keyOf({ position, question }: Asked): string {
  return `${position} ${question}`;
}

function asUser(question: string): NewMessage[] {
  return question === "" ? [] : [{ role: "user", content: question }];
}
