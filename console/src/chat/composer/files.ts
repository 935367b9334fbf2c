/** Files that are attached to a message: their text is read in the browser, and recorded as messages with the file's name. */

import type { Picture } from "./images";

/** The longest message that the server stores; some room is left for the line that names the file. */
const LONGEST_PART = 16_000;
const MOST_PARTS = 60;
const MOST_BYTES = 50_000_000;
const PDF = "application/pdf";

export interface ReadFile {
  name: string;
  parts: string[];
}

/** What is attached to a message: a file that is recorded before it, or an image that is sent with it. */
export type Attached = ReadFile | Picture;

export function isPicture(each: Attached): each is Picture {
  return "url" in each;
}

/** A file that cannot be attached; its message says why. */
export class Unreadable extends Error {
  constructor(name: string, why: string) {
    super(`“${name}” ${why}`);
    this.name = "Unreadable";
  }
}

export async function readFile(file: File): Promise<ReadFile> {
  if (file.size > MOST_BYTES) throw new Unreadable(file.name, "is larger than 50 MB.");
  if (file.type.startsWith("image/")) throw new Unreadable(file.name, "is an image, and the model of this conversation takes none here. Text and PDF files can be attached.");
  const isPdf = file.type === PDF || file.name.toLowerCase().endsWith(".pdf");
  const text = isPdf ? await pdfText(file) : decoded(file.name, await file.arrayBuffer());
  if (!text.trim()) throw new Unreadable(file.name, isPdf ? "has no text: it may be scanned pages." : "is empty.");
  const parts = inParts(text);
  if (parts.length > MOST_PARTS) throw new Unreadable(file.name, `is too long: at most ${(LONGEST_PART * MOST_PARTS).toLocaleString()} characters can be attached.`);
  return { name: file.name, parts };
}

async function pdfText(file: File): Promise<string> {
  const { textOfPdf } = await import("./pdf");
  try {
    return await textOfPdf(await file.arrayBuffer());
  } catch {
    throw new Unreadable(file.name, "could not be read as a PDF. It may be damaged or protected by a password.");
  }
}

function decoded(name: string, bytes: ArrayBuffer): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) throw new TypeError("binary");
    return text;
  } catch {
    throw new Unreadable(name, "is not a text file in UTF-8.");
  }
}

/** Cut at the end of a paragraph, of a line or of a word, where there is one in the last part; no character is cut in two. */
export function inParts(text: string, longest = LONGEST_PART): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > longest) {
    const cut = [...["\n\n", "\n", " "].map((mark) => rest.lastIndexOf(mark, longest)), longest].find((at) => at > longest / 2) ?? longest;
    const end = /[\uD800-\uDBFF]/.test(rest[cut - 1] ?? "") ? cut - 1 : cut;
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  if (rest) parts.push(rest);
  return parts;
}

/** The messages of a file, as they are recorded. */
export function messagesOf({ name, parts }: ReadFile): { role: "user"; content: string; metadata: { attachment: { name: string; part: number; parts: number } } }[] {
  return parts.map((text, index) => ({
    role: "user",
    content: parts.length > 1 ? `File “${name}”, part ${index + 1} of ${parts.length}:\n\n${text}` : `File “${name}”:\n\n${text}`,
    metadata: { attachment: { name, part: index + 1, parts: parts.length } },
  }));
}
