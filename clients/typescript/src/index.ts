/** The client of Cloister. `@cloister/client/ai-sdk` has the middleware for the AI SDK. */

export type { ChatOptions, ChatPart, Question, RecalledContext, ReplyMetadata } from "./chat.js";
export { Cloister } from "./client.js";
export { CloisterError, isCloisterError } from "./errors.js";
export type { ErrorCode } from "./errors.js";
export type { CloisterEvent, EventOptions, SessionEvent, StreamEvent } from "./events.js";
export type { Operations, Streamed } from "./generated/operations.js";
export type * from "./generated/schemas.js";
export type { CloisterOptions, RecordAllOptions, RequestOptions, WriteOptions } from "./options.js";
export { Pages } from "./pages.js";
export type { Page } from "./pages.js";
export type { Given } from "./request.js";
export type { ArchiveSource } from "./resources/archives.js";
export type { Narrowing } from "./scope.js";
export { SessionClient } from "./session.js";
