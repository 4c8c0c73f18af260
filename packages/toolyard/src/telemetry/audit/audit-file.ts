import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { LateLine, LineSink, SinkOptions } from "../line-sink.ts";
import { lineText } from "../line-sink.ts";
import { openFileSink } from "../sinks.ts";
import { HashChain, readLink } from "./hash-chain.ts";
import type { AuditFileOptions } from "./options.ts";
import { rotate } from "./rotating-file.ts";

/** Length of the members of the chain. */
const CHAIN_CHARS = 200;
/** Bytes at the end of the file in which its last line is looked for. */
const TAIL_BYTES = 65_536;

/** Opens the audit's file, with rotation and the chain of hashes as configured. */
export function openAuditFile(
  { path, rotation, isChained, chainKey }: AuditFileOptions,
  options: SinkOptions,
): LineSink {
  const chain = isChained ? lateChain(path, chainKey) : undefined;
  const linked = (line: string | LateLine): LateLine => ({
    chars: (typeof line === "string" ? line.length : line.chars) + CHAIN_CHARS,
    // Called when the line is written, so that the chain has the order of the file and no line that was dropped.
    text: () => chain!.append(lineText(line)),
  });
  const sink = openFileSink(path, {
    ...options,
    beforeWrite: () => rotate(path, rotation).catch(() => {}),
    ...(chain && { describeDropped: (count: number) => linked(options.describeDropped(count)) }),
  });
  return chain ? { write: (line) => sink.write(linked(line)), close: () => sink.close() } : sink;
}

/** The file is read with the first line, so that a hub without calls does not read it. */
function lateChain(path: string, key: string | undefined): Pick<HashChain, "append"> {
  let chain: HashChain | undefined;
  return { append: (json) => (chain ??= new HashChain(lastHash(path), key)).append(json) };
}

/** Returns the hash of the last chained line of a file; undefined without a file or such a line. */
function lastHash(path: string): string | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const { size } = fstatSync(file);
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(file, tail, 0, tail.length, size - tail.length);
      const lines = tail.toString("utf8").split("\n");
      return lines
        .toReversed()
        .map((line) => readLink(line)?.hash)
        .find((hash) => hash !== undefined);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
