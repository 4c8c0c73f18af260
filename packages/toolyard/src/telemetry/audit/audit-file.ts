import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { LateLine, LineSink, SinkOptions } from "../line-sink.ts";
import { lineText } from "../line-sink.ts";
import { openFileSink } from "../sinks.ts";
import { HashChain, readLink } from "./hash-chain.ts";
import type { AuditFileOptions } from "./options.ts";
import { rotate } from "./rotating-file.ts";

/** Length of the members that the chain adds, in characters. */
const CHAIN_CHARS = 200;
/** Number of bytes at the end of the file in which its last line is searched. */
const TAIL_BYTES = 65_536;

/** Opens the file of the audit, with the configured rotation and chain of hashes. */
export function openAuditFile(
  { path, rotation, isChained, chainKey }: AuditFileOptions,
  options: SinkOptions,
): LineSink {
  const chain = isChained ? lateChain(path, chainKey) : undefined;
  const linked = (line: string | LateLine): LateLine => ({
    chars: (typeof line === "string" ? line.length : line.chars) + CHAIN_CHARS,
    // The chain is extended when the line is written, so that it follows the order of the file and contains no dropped
    // line.
    text: () => chain!.append(lineText(line)),
  });
  const sink = openFileSink(path, {
    ...options,
    beforeWrite: () => rotate(path, rotation).catch(() => {}),
    ...(chain && { describeDropped: (count: number) => linked(options.describeDropped(count)) }),
  });
  return chain ? { write: (line) => sink.write(linked(line)), close: () => sink.close() } : sink;
}

/** Creates the chain when the first line is written, so that a hub without calls does not read the file. */
function lateChain(path: string, key: string | undefined): Pick<HashChain, "append"> {
  let chain: HashChain | undefined;
  return { append: (json) => (chain ??= new HashChain(lastHash(path), key)).append(json) };
}

/** Returns the hash of the last chained line of a file. Returns `undefined` if there is no file or no such line. */
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
