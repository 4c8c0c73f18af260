import type { Reader } from "./block.ts";
import { decodeUndeclared } from "./text-encoding.ts";

/** Reads plain text: paragraphs separated by empty lines. */
export const readText: Reader = async (bytes) => {
  const { text, warnings } = decodeText(bytes);
  const blocks = text
    .split(/\n[^\S\n]*\n+/)
    .map((paragraph) => ({ kind: "paragraph" as const, text: paragraph.replaceAll(/\s+/g, " ").trim() }))
    .filter((block) => block.text !== "");
  return { blocks, pages: 0, metadata: [], warnings };
};

/**
 * Decodes UTF-8, UTF-16 with a byte order mark, or else the encoding that the bytes indicate. Throws a `DocumentError`
 * if they indicate none.
 */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly warnings: readonly string[] } {
  const plain = (text: string): string => text.replaceAll(/\r\n?/g, "\n").replaceAll("\0", "");
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return { text: plain(new TextDecoder("utf-16le").decode(bytes)), warnings: [] };
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return { text: plain(new TextDecoder("utf-16be").decode(bytes)), warnings: [] };
  try {
    return { text: plain(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), warnings: [] };
  } catch {
    const { text, warnings } = decodeUndeclared(bytes);
    return { text: plain(text), warnings };
  }
}
