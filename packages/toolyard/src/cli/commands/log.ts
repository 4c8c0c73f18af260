import { stat } from "node:fs/promises";
import { fail } from "../../core/calls/outcome.ts";
import { FailError, OptionError } from "../../core/errors.ts";
import { knownPlaces } from "../../hub/shared/place.ts";
import { EXIT, UsageError } from "../failure.ts";
import { placeOf } from "../hub-access/shared-hub.ts";
import { followFile, lastLines } from "../hub-access/log-file.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

interface Options extends SharedOptions {
  readonly lines: string;
  readonly follow?: boolean;
}

const MAX_LINES = 10_000;

/** Prints the last lines of a shared hub's log. The hub need not be running. */
export const run: CommandAction<Options> = async (_args, options, io) => {
  const count = readCount(options.lines);
  if (options.follow && options.json)
    throw new UsageError("--json prints one document, and --follow has no end. Leave one out.");
  const path = await logOf(options, io);
  const { lines, offset } = await lastLines(path, count);
  if (options.json) await printJson(io.stdout, { file: path, lines });
  else {
    await print(io.stderr, `Log: ${path}`);
    if (lines.length > 0) await print(io.stdout, lines.join("\n"));
  }
  if (options.follow)
    await followFile(path, { offset, signal: io.interrupted, onLines: (text) => print(io.stdout, text.join("\n")) });
  return EXIT.ok;
};

function readCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= MAX_LINES) return count;
  throw new OptionError(`--lines must be a whole number from 0 to ${MAX_LINES}, got "${text}".`);
}

/**
 * Returns the log of the hub of the configuration in force. Without `--config`, if that hub has no log, returns the
 * user's newest log.
 */
async function logOf(options: SharedOptions, io: Io): Promise<string> {
  const own = (await placeOf({ options, io })).log;
  if ((await changedAt(own)) !== undefined) return own;
  const others = options.config === undefined ? await knownPlaces(io.env) : [];
  const logs = await Promise.all(others.map(async ({ log }) => ({ log, at: (await changedAt(log)) ?? 0 })));
  const newest = logs.filter(({ at }) => at > 0).toSorted((a, b) => b.at - a.at)[0];
  if (newest) return newest.log;
  throw new FailError(
    fail(
      "unavailable",
      `There is no log of a shared hub at ${own}: no client has started one. ` +
        "A hub of `toolyard serve` logs to its terminal, or to `[logging] file`.",
    ),
  );
}

async function changedAt(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() ? stats.mtimeMs : undefined;
}
