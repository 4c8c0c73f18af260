import { clearScreenDown, cursorTo, moveCursor, type Interface } from "node:readline";
import type { Terminal } from "./io.ts";

/**
 * Prints other output above the line that a user is typing, and redraws that line below it. Returns a function that
 * stops this.
 */
export function writeAbovePrompt(stream: Terminal, input: Interface, isPrompting: () => boolean): () => void {
  const own = Object.getOwnPropertyDescriptor(stream, "write");
  const write = stream.write.bind(stream) as (...all: readonly unknown[]) => boolean;
  const above = (chunk: unknown, ...rest: readonly unknown[]): boolean => {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString("utf8");
    if (!isPrompting() || !text.endsWith("\n")) return write(chunk, ...rest);
    const { rows } = input.getCursorPos();
    moveCursor(stream, 0, -rows);
    cursorTo(stream, 0);
    clearScreenDown(stream);
    // Adds a line break for each row of the typed line, because redrawing that line moves the cursor up by these rows.
    const isWritten = write(`${text}${"\n".repeat(rows)}`, ...rest);
    input.prompt(true);
    return isWritten;
  };
  // Writes that happen during another write, such as cursor movements, are passed on unchanged.
  let isInside = false;
  stream.write = ((chunk: unknown, ...rest: readonly unknown[]) => {
    if (isInside) return write(chunk, ...rest);
    isInside = true;
    try {
      return above(chunk, ...rest);
    } finally {
      isInside = false;
    }
  }) as Terminal["write"];
  return () => {
    if (own) Object.defineProperty(stream, "write", own);
    else delete (stream as { write?: unknown }).write;
  };
}
