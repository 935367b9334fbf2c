/** Options of the client and of single requests. An option that is not known is refused, never ignored. */

export interface CloisterOptions {
  /** The address of the server, such as `https://memory.example.org`; it may have a path. */
  url: string;
  /** An API key. */
  key: string;
  /** Narrow every request to this user, as a key that is bound to the user is (`X-User-ID`). */
  userId?: string;
  /** The project of every request that names none (`X-Project-ID`). */
  projectId?: string;
  /** How often a request is sent again, where that is safe. Default: 2. */
  maxRetries?: number | undefined;
  /** Milliseconds until an answer must be complete, or a stream must begin. Default: 60,000. */
  timeout?: number | undefined;
  /** Another implementation of `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds until the answer must be complete, or the stream must begin. */
  timeout?: number | undefined;
  /** For requests that create: the same request with the same key is carried out once. Without it, a random one is sent. */
  idempotencyKey?: string | undefined;
}

export interface WriteOptions extends RequestOptions {
  /** `indexed`: answer only when recall can find what was stored. */
  wait?: "indexed" | undefined;
}

export interface RecordAllOptions extends WriteOptions {
  /** The `unmoved_token` of a context: record nothing, and fail with `conflict`, unless the session still recalls from there. */
  ifUnmovedSince?: string | undefined;
}

const CLIENT = ["url", "key", "userId", "projectId", "maxRetries", "timeout", "fetch"];
const REQUEST = ["signal", "timeout", "idempotencyKey"];

export function checkClientOptions(options: CloisterOptions): void {
  refuseUnknown(options, CLIENT, "new Cloister");
  if (typeof options.key !== "string" || !/^[\x21-\x7e]+$/.test(options.key)) {
    throw new TypeError("new Cloister: `key` must be an API key, as text without spaces.");
  }
  if (options.maxRetries !== undefined && !(Number.isInteger(options.maxRetries) && options.maxRetries >= 0)) {
    throw new TypeError("new Cloister: `maxRetries` must be a whole number from 0.");
  }
  checkTimeout(options.timeout, "new Cloister");
}

export function checkRequestOptions(options: RequestOptions, operation: string): void {
  refuseUnknown(options, REQUEST, operation);
  checkTimeout(options.timeout, operation);
}

export function refuseUnknown(given: object, known: readonly string[], where: string): void {
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) {
      throw new TypeError(`${where}: the option \`${name}\` is not known; known are ${known.join(", ")}.`);
    }
  }
}

/** The address without a slash at its end. */
export function checkedUrl(given: string): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new TypeError("new Cloister: `url` must be an address such as http://127.0.0.1:8420.");
  }
  const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!["http:", "https:"].includes(url.protocol) || !isPlain) {
    throw new TypeError("new Cloister: `url` must begin with http or https, without credentials, query and fragment.");
  }
  return url.href.replace(/\/$/, "");
}

function checkTimeout(timeout: number | undefined, where: string): void {
  if (timeout !== undefined && !(timeout > 0 && timeout <= 2_147_483_647)) {
    throw new TypeError(`${where}: \`timeout\` must be a number of milliseconds above 0.`);
  }
}
