/** Replies that quote what is remembered mark it as a block of data. It is shown as a quotation, and never read as Markdown. */

export type Piece =
  | { kind: "markdown"; text: string }
  | { kind: "label"; text: string }
  | { kind: "recalled"; lines: string[] };

const BLOCK = /<recalled-memory>([\s\S]*?)(?:<\/recalled-memory>|$)/g;
const LABEL = /^(?:Recall only: |No model connected\.)[^\n]*\n*/;
const ORIGIN = /^(\d{4}-\d\d-\d\d, (?:.*? in|a memory of) )(\S+): /;

export function inPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  const label = LABEL.exec(text)?.[0] ?? "";
  if (label) pieces.push({ kind: "label", text: label.trim() });
  let end = label.length;
  for (const block of text.matchAll(BLOCK)) {
    if (block.index < end) continue;
    keep(pieces, text.slice(end, block.index));
    const lines = (block[1] ?? "").split("\n").filter((line) => line.startsWith("- "));
    pieces.push({ kind: "recalled", lines: lines.map((line) => line.slice(2)) });
    end = block.index + block[0].length;
  }
  keep(pieces, text.slice(end));
  return pieces;
}

/** A quoted line names its conversation by its id; people know it by its title. */
export function withTitle(line: string, titleOf: (id: string) => string | undefined): string {
  const [, before, id] = ORIGIN.exec(line) ?? [];
  const title = id && titleOf(id);
  return before && id && title ? `${before}“${title}”${line.slice(before.length + id.length)}` : line;
}

function keep(pieces: Piece[], text: string): void {
  if (text.trim()) pieces.push({ kind: "markdown", text });
}
