import { stringifyExact } from "../core/json/exact-json.ts";
/** Bytes of a value as JSON. */
export function byteLengthOf(value: unknown): number {
  return Buffer.byteLength(stringifyExact(value) ?? "");
}

/** The beginning of a text, at most so many bytes of UTF-8, without half a character at its end. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes
    ? text
    : bytes
        .subarray(0, maxBytes)
        .toString("utf8")
        .replace(/\uFFFD$/, "");
}
