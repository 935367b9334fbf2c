/** What the calls of all resources have in common. */

import type { Filter } from "../generated/schemas.js";
import type { RequestOptions, WriteOptions } from "../options.js";
import { refuseUnset } from "../scope.js";
import { Pages } from "../pages.js";
import type { Page } from "../pages.js";

/** The query parameter `wait`, and the options of the request. */
export function splitWait(options: WriteOptions): [{ wait?: "indexed" | undefined }, RequestOptions] {
  const { wait, ...rest } = options;
  return [{ wait }, rest];
}

export function pagesOf<Item>(read: (cursor: string | undefined) => Promise<Page<Item>>): Pages<Item> {
  return new Pages(read);
}

/** A query with its filter as the text that the server reads. */
export function filterText<Query extends { filter?: Filter | undefined }>(
  query: Query,
): Omit<Query, "filter"> & { filter?: string | undefined } {
  refuseUnset(query);
  const { filter, ...rest } = query;
  return filter === undefined ? rest : { ...rest, filter: JSON.stringify(filter) };
}
