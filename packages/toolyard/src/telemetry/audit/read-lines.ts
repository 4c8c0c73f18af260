import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";

/** Reads the lines of files in order, without holding a file in memory. */
export async function* readLines(
  files: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<{ readonly file: string; readonly line: number; readonly text: string }> {
  for (const file of files) yield* readFrom(file, 0, signal);
}

/** Part of an audit that ends with its newest line. */
interface RecentLines {
  readonly lines: AsyncIterable<{ readonly text: string }>;
  /** True if earlier lines exist. */
  readonly isPart: boolean;
}

/** Opens the last `maxBytes` of files, oldest line first. Files that do not exist are omitted. */
export async function openRecentLines(
  files: readonly string[],
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<RecentLines> {
  const parts: { readonly file: string; readonly start: number }[] = [];
  let left = maxBytes;
  for (const file of files.toReversed()) {
    const { size = 0 } = (await stat(file).catch(() => undefined)) ?? {};
    if (size === 0) continue;
    if (left <= 0) return { lines: readParts(parts, signal), isPart: true };
    // The byte before the part shows whether the part begins with a whole line.
    parts.unshift({ file, start: Math.max(0, size - left - 1) });
    left -= size;
  }
  return { lines: readParts(parts, signal), isPart: left < 0 };
}

async function* readParts(
  parts: readonly { readonly file: string; readonly start: number }[],
  signal: AbortSignal,
): AsyncGenerator<{ readonly text: string }> {
  for (const { file, start } of parts)
    for await (const { line, text } of readFrom(file, start, signal)) {
      // The first line that is read may be incomplete, unless the part starts at the beginning of the file.
      if (start === 0 || line > 1) yield { text };
    }
}

async function* readFrom(
  file: string,
  start: number,
  signal: AbortSignal,
): AsyncGenerator<{ readonly file: string; readonly line: number; readonly text: string }> {
  let line = 0;
  const input = createReadStream(file, { encoding: "utf8", start });
  try {
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      signal.throwIfAborted();
      line += 1;
      yield { file, line, text };
    }
  } finally {
    input.destroy();
  }
}
