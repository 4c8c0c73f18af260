import { createHash } from "node:crypto";

/** Eight hexadecimal digits that tell texts apart, the same on every run. Not a secret's business. */
export function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** The fingerprint of a larger text, such as a whole list. */
export function contentDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
