import { stat } from "node:fs/promises";
import { once } from "node:events";
import { DocumentError, isDocumentErrorCode } from "../documents/document-error.ts";
import { anyFile } from "../documents/open-folders.ts";
import type { SourceReport } from "../ingest/jobs.ts";
import { openHere } from "../service.ts";
import { settingsOf } from "../settings.ts";
import { EXIT, type CommandIo } from "./command-io.ts";
import { line, spoken, type Words } from "./words.ts";

interface WatchCommandOptions {
  readonly json?: boolean;
}

/** Adds files of these folders when they appear or change, until the process is interrupted. */
export const watch = spoken(async (folders: readonly string[], options: WatchCommandOptions, { io, words }) => {
  const roots = await Promise.all(folders.map((folder) => folderAt(folder, io)));
  await using library = await openHere(settingsOf(io.env));
  const ended = io.signal.aborted ? Promise.resolve() : once(io.signal, "abort");
  const isWatching = await library.watch(roots, (report) => void tell(report, { options, io, words }));
  if (!options.json) await io.say(isWatching ? words.watching(roots.join(", ")) : words.watchedElsewhere);
  // Keeps the process running: neither the jobs nor the watcher does.
  const stay = setInterval(() => {}, STAY_MS);
  await ended;
  clearInterval(stay);
  return EXIT.ok;
});

const STAY_MS = 60_000;

async function folderAt(given: string, io: CommandIo): Promise<string> {
  const path = await anyFile(io.cwd).resolve(given);
  if ((await stat(path)).isDirectory()) return path;
  throw new DocumentError(
    "VALIDATION_ERROR",
    `${given} is a file, not a folder. Add it with \`toolyard library add\`.`,
  );
}

interface WatchOutput {
  readonly options: WatchCommandOptions;
  readonly io: CommandIo;
  readonly words: Words;
}

/** Prints the report of one source. Unchanged sources are not reported. */
async function tell(report: SourceReport, { options, io, words }: WatchOutput): Promise<void> {
  const { source, status, source_id: id, chunks_count: chunks = 0, error } = report;
  if (status === "unchanged") return;
  if (options.json) await io.print(JSON.stringify(report));
  else if (status === "failed") await io.say(line(words, status, `${source}: ${failureOf(report, words) ?? error}`));
  else await io.print(line(words, status, `${id} (${words.passages(chunks)})`));
}

function failureOf({ code, error = "", reason }: SourceReport, words: Words): string | undefined {
  return code !== undefined && isDocumentErrorCode(code)
    ? words.failure(new DocumentError(code, error, reason))
    : undefined;
}
