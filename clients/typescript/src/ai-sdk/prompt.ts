/** Reads and changes the prompts of the AI SDK, in the parts that specifications v3 and v4 share. */

interface Part {
  type: string;
  text?: unknown;
}

type Content = string | readonly Part[];

export interface PromptMessage {
  role: string;
  content: Content;
}

/** What a turn is about. `isFirstStep`: nothing follows the user's message yet. */
export interface Asked {
  question: string;
  position: number;
  isFirstStep: boolean;
  /** What the assistant has said since, before tool calls. */
  said: string[];
}

/** The last message of the user, and what followed it. */
export function questionIn(prompt: readonly PromptMessage[]): Asked | undefined {
  const position = prompt.findLastIndex((message) => message.role === "user");
  const message = prompt[position];
  if (message === undefined) return undefined;
  const after = prompt.slice(position + 1);
  const said = after.filter(({ role }) => role === "assistant").map(({ content }) => textOf(content));
  return { question: textOf(message.content), position, isFirstStep: after.length === 0, said };
}

/** The prompt with the recalled text behind its system messages, so that what stands before it can still be cached. */
export function withRecalled<Message extends PromptMessage>(prompt: readonly Message[], recalled: string): Message[] {
  if (recalled === "") return [...prompt];
  const after = prompt.findIndex((message) => message.role !== "system");
  const position = after === -1 ? prompt.length : after;
  const message = { role: "system", content: recalled } as unknown as Message;
  return [...prompt.slice(0, position), message, ...prompt.slice(position)];
}

/** The text of a reply; reasoning, tool calls and files are not part of it. */
export function replyOf(content: Content): string {
  return textOf(content);
}

/** The reason in any version: a word, or an object with the unified word. */
export function finishOf(reason: unknown): string {
  if (typeof reason === "string") return reason;
  const unified = typeof reason === "object" && reason !== null ? (reason as { unified?: unknown }).unified : undefined;
  return typeof unified === "string" ? unified : "other";
}

function textOf(content: Content): string {
  if (typeof content === "string") return storable(content);
  const texts = content.flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : []));
  return storable(texts.join("\n\n"));
}

/** A text without what cannot be stored: half a character, and NUL. */
export function storable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd").replaceAll("\0", "").trim();
}
