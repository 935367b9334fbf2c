/** How the chat speaks to the server: it sends only what was said now, since the server has the rest. */

import { DefaultChatTransport } from "ai";

import { checkedFetch, segment } from "../api/client";
import type { Said } from "./said";

interface Options {
  /** Where a session that is not there yet comes to be; undefined where it is there. */
  place: () => string | null | undefined;
  /** What was said is kept now. */
  onKept: () => void;
}

export function chatPath(id: string, what: "stream" | "stop"): string {
  return `/v1/chat/${segment(id)}/${what}`;
}

export function newTransport({ place, onKept }: Options): DefaultChatTransport<Said> {
  return new DefaultChatTransport<Said>({
    api: "/v1/chat/stream",
    fetch: async (input, init) => {
      const response = await checkedFetch(input, init);
      if (init?.method === "POST") onKept();
      return response;
    },
    prepareSendMessagesRequest: ({ id, messages, trigger }) => {
      const last = messages.findLast((message) => message.role === "user");
      const project = place();
      return {
        body: {
          id,
          messages: last ? [{ role: last.role, parts: last.parts.filter((part) => part.type === "text") }] : [],
          trigger,
          ...(project === undefined ? {} : { project_id: project }),
        },
      };
    },
    prepareReconnectToStreamRequest: ({ id }) => ({ api: chatPath(id, "stream") }),
  });
}
