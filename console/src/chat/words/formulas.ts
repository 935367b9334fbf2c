/**
 * Finds formulas in Markdown before it is parsed: \(…\), \[…\], $…$ and $$…$$, not in code. Each is replaced by a mark that Markdown
 * leaves alone, since it would take `\(` for an escaped bracket. Reads the text once.
 */

export interface Formula {
  source: string;
  display: boolean;
}

const OPEN = "\uE000";
const CLOSE = "\uE001";
export const MARK = /\uE000(\d+)\uE001/;
const LONGEST = 5_000;
/** What may stand before a block of code in its line: quotations and lists, up to so many characters. */
const FURTHEST = 40;
const BLOCK_START = /\n[ \t>*\-\d.)]*$/;

export function takeFormulas(text: string): { text: string; formulas: Formula[] } {
  if (!text.includes("$") && !text.includes("\\(") && !text.includes("\\[")) return { text, formulas: [] };
  const formulas: Formula[] = [];
  const plain = text.replaceAll(/[\uE000\uE001]/g, "\uFFFD");
  let [result, at] = ["", 0];
  // Where the next end of each kind is, so that it is not looked for from every beginning: the work stays linear.
  const ends = new Map<string, number>();
  while (at < plain.length) {
    const code = codeAt(plain, at);
    if (code > at) {
      result += plain.slice(at, code);
      at = code;
      continue;
    }
    const found = formulaAt(plain, at, ends);
    if (found) {
      result += `${OPEN}${formulas.length}${CLOSE}`;
      formulas.push({ source: found.source, display: found.display });
      at = found.end;
    } else {
      const step = plain[at] === "\\" && at + 1 < plain.length ? 2 : 1;
      result += plain.slice(at, at + step);
      at += step;
    }
  }
  return { text: result, formulas };
}

/** The end of the code that begins here, or `at` where none does. */
function codeAt(text: string, at: number): number {
  const mark = text[at];
  if (mark !== "`" && mark !== "~") return at;
  let end = at;
  while (text[end] === mark) end += 1;
  const fence = text.slice(at, end);
  const isBlock = fence.length >= 3 && BLOCK_START.test(`${at > FURTHEST ? "" : "\n"}${text.slice(Math.max(0, at - FURTHEST), at)}`);
  if (!isBlock && mark === "~") return at;
  if (!isBlock) {
    const close = text.indexOf(fence, end);
    return close < 0 ? end : close + fence.length;
  }
  const close = text.indexOf(`\n${fence}`, end);
  const indented = close < 0 ? text.slice(end).search(new RegExp(`\\n[ \\t>]*${mark}{${fence.length},}`)) : -1;
  if (close >= 0) return close + 1 + fence.length;
  return indented < 0 ? text.length : end + indented + text.slice(end + indented).indexOf(fence) + fence.length;
}

function formulaAt(text: string, at: number, ends: Map<string, number>): (Formula & { end: number }) | null {
  if (text.startsWith("\\(", at)) return between(text, at, "\\(", "\\)", false, ends);
  if (text.startsWith("\\[", at)) return between(text, at, "\\[", "\\]", true, ends);
  if (text.startsWith("$$", at)) return between(text, at, "$$", "$$", true, ends);
  return text[at] === "$" ? inDollars(text, at) : null;
}

function between(text: string, at: number, open: string, close: string, display: boolean, ends: Map<string, number>): (Formula & { end: number }) | null {
  const from = at + open.length;
  const known = ends.get(close) ?? -1;
  const found = known >= from ? known : text.indexOf(close, from);
  const end = found < 0 ? Infinity : found;
  ends.set(close, end);
  if (end - from > LONGEST) return null;
  const source = text.slice(from, end);
  if (!source.trim() || /\n[ \t]*\n/.test(source)) return null;
  return { source, display, end: end + close.length };
}

/** In one line, without a space after the first dollar or before the last, and no digit after it: so that prices are no formulas. */
function inDollars(text: string, at: number): (Formula & { end: number }) | null {
  if (/[\s$]/.test(text[at + 1] ?? " ") || /[\w$\\]/.test(text[at - 1] ?? " ")) return null;
  for (let end = at + 1; end < text.length && end - at < 500; end += 1) {
    if (text[end] === "\n") return null;
    if (text[end] === "\\") end += 1;
    else if (text[end] === "$") {
      if (/\s/.test(text[end - 1] ?? " ") || /[\d$]/.test(text[end + 1] ?? " ")) return null;
      return { source: text.slice(at + 1, end), display: false, end: end + 1 };
    }
  }
  return null;
}
