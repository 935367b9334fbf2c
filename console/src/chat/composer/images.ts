/** Images that are attached to a message: drawn again in the browser, smaller, and without what a camera notes in its files. */

import { Unreadable } from "./files";

export const MOST_IMAGES = 4;
const KINDS = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
const SIDE = 1_568;
const SMALLEST_SIDE = 200;
/** Four of them fit into the largest request that the server takes. */
const MOST_BYTES = 170_000;
const BYTES_PER_CHARACTER = 0.75;
const SMALLER = 0.75;
const LONGEST_NAME = 200;

/** An image as it is sent to the model, with one message. It is not stored. */
export interface Picture {
  name: string;
  mediaType: string;
  url: string;
}

export async function readImage(file: File): Promise<Picture> {
  if (!KINDS.has(file.type)) throw new Unreadable(file.name, "is not a PNG, JPEG, WebP or GIF image.");
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Unreadable(file.name, "could not be read as an image.");
  }
  try {
    for (let side = SIDE; side >= SMALLEST_SIDE; side = Math.round(side * SMALLER)) {
      for (const quality of [0.85, 0.6]) {
        const url = drawn(bitmap, side, quality);
        if (url.length * BYTES_PER_CHARACTER <= MOST_BYTES) return { name: file.name.slice(0, LONGEST_NAME), mediaType: "image/jpeg", url };
      }
    }
  } finally {
    bitmap.close();
  }
  throw new Unreadable(file.name, "is too large to send.");
}

function drawn(bitmap: ImageBitmap, side: number, quality: number): string {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const surface = canvas.getContext("2d");
  if (surface === null) throw new Error("This browser cannot draw images.");
  surface.fillStyle = "white"; // where the image is transparent
  surface.fillRect(0, 0, canvas.width, canvas.height);
  surface.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", quality);
}

/** Whether a stored message had images, as far as its words say. */
export function namesImages(text: string): boolean {
  return /^\[image: .*\]$/m.test(text);
}

/** The words of a message with images, as the server stores them. */
export function withNames(text: string, pictures: readonly Picture[]): string {
  return [text, ...pictures.map(({ name }) => `[image: ${name}]`)].join("\n");
}
