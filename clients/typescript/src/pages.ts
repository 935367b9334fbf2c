/** Lists that come in pages. */

import { CloisterError } from "./errors.js";

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

/** A list: `for await (const item of list)` reads all pages, one after another; `page()` reads one. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  /** The first page, or the one after a `next_cursor`. */
  async page(cursor?: string): Promise<Page<Item>> {
    return await this.#read(cursor);
  }

  /** At most so many items. */
  async take(most: number): Promise<Item[]> {
    const taken: Item[] = [];
    if (most <= 0) return taken;
    for await (const item of this) {
      taken.push(item);
      if (taken.length >= most) break;
    }
    return taken;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await this.#read(cursor);
      yield* page.data;
      if (page.next_cursor === null) return;
      if (page.next_cursor === cursor) {
        throw new CloisterError("The list does not end: its next page is the same one again.", { code: "unexpected_answer" });
      }
      cursor = page.next_cursor;
    }
  }
}
