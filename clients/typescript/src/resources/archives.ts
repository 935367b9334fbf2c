/** Archives: everything of a tenant, a project or a user as lines of JSON. */

import type { Connection } from "../connection.js";
import { CloisterError } from "../errors.js";
import type { Operations, Streamed } from "../generated/operations.js";
import type { Imported } from "../generated/schemas.js";
import type { RequestOptions } from "../options.js";
import { lines, parsed } from "../streams.js";

/** Lines of an archive: as bytes or text in pieces of any size. */
export type ArchiveSource =
  | string
  | Streamed
  | AsyncIterable<string | Uint8Array>
  | Iterable<string | Uint8Array>;

const MILLISECONDS_TO_IMPORT = 600_000;

export class Archives {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The archive as it is sent. It is complete if its last line is of the kind `end`; `exportLines` checks that. */
  async export(query: Operations["export_archive"]["query"] = {}, options: RequestOptions = {}): Promise<Streamed> {
    return await this.#connection.call("export_archive", { query }, options);
  }

  /** The lines of the archive, read while it arrives. An archive that was cut off is an error. */
  async *exportLines(
    query: Operations["export_archive"]["query"] = {},
    options: RequestOptions = {},
  ): AsyncGenerator<Record<string, unknown>, void, undefined> {
    const opened = await this.#connection.open("export_archive", { query }, options);
    opened.deadline.clear();
    let last: unknown;
    for await (const line of lines(opened)) {
      const object = parsed(line);
      last = object["kind"];
      yield object;
    }
    if (last !== "end") {
      throw new CloisterError("The archive was cut off before its last line: export it again.", {
        code: "connection_failed",
      });
    }
  }

  /** Import an archive, or conversations. What is there already stays as it is. Sent once, while it is made. */
  async import(source: ArchiveSource, options: RequestOptions = {}): Promise<Imported> {
    const wanted = { timeout: MILLISECONDS_TO_IMPORT, ...options };
    return await this.#connection.call("import_archive", { body: streamed(source) }, wanted);
  }
}

function streamed(source: ArchiveSource): Streamed {
  if (source instanceof ReadableStream) return source;
  const pieces = pieceIterator(typeof source === "string" ? [source] : source);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
    async cancel() {
      await pieces.return?.();
    },
  });
}

async function* pieceIterator(
  source: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  yield* source;
}
