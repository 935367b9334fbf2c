/** The words that people stumbled over, of the table that the console was mended by: none of them may come back. */

import { expect, it } from "vitest";

const OLD_WORDS = [
  "Shared pool",
  "Say something",
  "What is said here stays in",
  "It recalls the conversations of",
  "and nothing from outside",
  "No conversation yet",
  "This browser is not signed in",
  "or the server was started again since",
  "no model is set here",
  "is related to what you said",
  "Allowed in because",
  "score 0.",
  "score ${",
  "score {",
  "Asking…",
  "Answer again",
  "Cut off here",
  "What is kept of it",
  "Read it now",
  "Of a conversation",
  "Of a user",
  "Its source",
  "Keep them",
  "What has fallen out of the recent part",
  "Forget all that was said in it",
  "What you said before is forgotten",
  "A prompt is given what it asks for",
  "There is no switch for that",
  ">Change<",
  ">Change {",
  '"Change"',
  "`Change $",
  "Its users: ",
  "share what is said in it",
  "each recall only their own part",
  "as the system has it",
  "walk the conversations",
  "Signed in as",
  "by naming them (pinned)",
  "not as a Cloister does",
  "takes no more requests for",
  "look into the log of its server",
  "all of it is still recent",
  "can then be recalled by",
  "outside of all projects",
  "recalled no more",
  "confined to",
];

const SOURCES: Record<string, string> = import.meta.glob("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

/** Comments may name what is read in old replies. */
function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
}

it("reads all sources", () => {
  expect(Object.keys(SOURCES).length).toBeGreaterThan(80);
});

it.each(OLD_WORDS)("“%s” is not said", (words) => {
  const found = Object.entries(SOURCES).filter(([, source]) => withoutComments(source).includes(words));
  expect(found.map(([name]) => name)).toEqual([]);
});
