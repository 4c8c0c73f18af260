import { stringifyExact } from "../core/json/exact-json.ts";
/** Returns the size of a value as JSON, in bytes. */
export function byteLengthOf(value: unknown): number {
  return Buffer.byteLength(stringifyExact(value) ?? "");
}

/** Returns the beginning of a text, with at most this many bytes of UTF-8. It does not end within a character. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes
    ? text
    : bytes
        .subarray(0, maxBytes)
        .toString("utf8")
        .replace(/\uFFFD$/, "");
}
