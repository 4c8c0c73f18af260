import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { exportLibrary, importLibrary } from "../moves/export-file.ts";
import { examine } from "../moves/doctor.ts";
import { moveLibrary } from "../moves/move.ts";
import { bars, statisticsOf, type Share, type Statistics } from "../moves/statistics.ts";
import { openTableEmbedder } from "../search/table-embedder.ts";
import { libraryStore } from "../settings.ts";
import { DocumentError } from "../documents/document-error.ts";
import { openStore, parseStore } from "../store/open-store.ts";
import type { LibraryStore } from "../store/store.ts";
import { EXIT, type CommandIo } from "./command-io.ts";
import { line, spoken, type Words } from "./words.ts";

interface MoveCommandOptions {
  readonly json?: boolean;
}

/** Writes the whole library to one file. */
export const exportTo = spoken(async (file: string, options: MoveCommandOptions, { io, words }) => {
  await using store = await open(io);
  const path = resolve(io.cwd, file);
  const counts = await exportLibrary(store, path, { signal: io.signal });
  if (options.json) await io.print(JSON.stringify({ file: path, ...counts }));
  else await io.print(line(words, "exported", words.moves.to(extent(counts, words), path)));
  return EXIT.ok;
});

/** Imports a file that `export` wrote. */
export const importFrom = spoken(async (file: string, options: MoveCommandOptions, { io, words }) => {
  await using store = await open(io);
  const counts = await importLibrary(store, resolve(io.cwd, file), { signal: io.signal });
  await store.repair();
  if (options.json) await io.print(JSON.stringify(counts));
  else await io.print(line(words, "imported", extent(counts, words)));
  return EXIT.ok;
});

export interface MoveOptions extends MoveCommandOptions {
  readonly to: string;
}

/** Copies the library to another store and compares the search results of both. Returns 1 if they differ. */
export async function move(options: MoveOptions, io: CommandIo): Promise<number> {
  return moveTo("", options, io);
}

const moveTo = spoken(async (_none: string, options: MoveOptions, { io, words }) => {
  const target = parseStore(options.to);
  await using from = await open(io);
  await using to = await openStore(target);
  const embedder = await openTableEmbedder();
  const { documents, unchanged, compared } = await moveLibrary(from, to, { embedder, signal: io.signal });
  const { engine, place } = await to.describe();
  const { queries, equal, different } = compared;
  if (options.json) await io.print(JSON.stringify({ documents, unchanged, engine, place, queries, equal, different }));
  else {
    const { moved, at, same, stays } = words.moves;
    await io.print(line(words, "moved", moved(words.documents(documents), unchanged, at(engine, place))));
    await io.print(line(words, "compared", same(equal, queries)));
    for (const query of different) await io.say(line(words, "different", query));
    if (different.length === 0) await io.say(stays);
  }
  return different.length === 0 ? EXIT.ok : EXIT.failed;
});

export interface DoctorOptions extends MoveCommandOptions {
  readonly repair?: boolean;
}

/** Checks the library. Returns 1 if it has a fault. */
export async function doctor(options: DoctorOptions, io: CommandIo): Promise<number> {
  return lookThrough("", options, io);
}

const lookThrough = spoken(async (_none: string, options: DoctorOptions, { io, words }) => {
  await using store = await open(io);
  const embedder = await openTableEmbedder();
  if (options.repair) await store.repair();
  const { findings, ...facts } = await examine(store, embedder);
  if (options.json) await io.print(JSON.stringify({ ...facts, findings }));
  else {
    const { vectors, finding: told, mends, well } = words.moves;
    await io.print(`${facts.engine}, ${facts.place}`);
    const held = { documents: facts.documents, chunks: facts.passages };
    await io.print(`${extent(held, words)}, ${vectors(facts.embedder)}`);
    for (const finding of findings) await io.say(line(words, "wrong", told(finding)));
    if (findings.some(({ canMend }) => canMend)) await io.say(mends);
    if (findings.length === 0) await io.print(well);
  }
  return findings.length === 0 ? EXIT.ok : EXIT.failed;
});

/** Copies the library's file while it is in use. */
export const backup = spoken(async (file: string, options: MoveCommandOptions, { io, words }) => {
  await using store = await open(io);
  const path = resolve(io.cwd, file);
  if (!store.backup) throw new DocumentError("VALIDATION_ERROR", store.backupAdvice ?? "This store has no backup.");
  if (await isThere(path))
    throw new DocumentError("VALIDATION_ERROR", `${path} already exists. Name a new file.`, "already_there");
  await store.backup(path);
  await io.print(options.json ? JSON.stringify({ file: path }) : line(words, "saved", path));
  return EXIT.ok;
});

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Layout of the charts: length of a bar, maximum number of rows, and years per row if there are many. */
const BAR_WIDTH = 30;
const MAX_ROWS = 12;

/** Prints totals of the library, with pages by author and by year. */
export async function stats(options: MoveCommandOptions, io: CommandIo): Promise<number> {
  return count("", options, io);
}

const count = spoken(async (_none: string, options: MoveCommandOptions, { io, words }) => {
  await using store = await open(io);
  const statistics = await statisticsOf(store);
  if (options.json) await io.print(JSON.stringify(statistics));
  else if (statistics.documents === 0) await io.say(words.empty);
  else await io.print([summaryOf(statistics, words), ...charts(statistics, words)].join("\n"));
  return EXIT.ok;
});

function summaryOf({ documents, passages, pages, languages }: Statistics, words: Words): string {
  const spokenIn = Object.entries(languages)
    .toSorted(([, one], [, other]) => other - one)
    .map(([language, own]) => `${language || words.moves.unknown} ${own}`);
  const held = extent({ documents, chunks: passages }, words);
  return `${held}, ${words.pages(pages)}; ${words.moves.languages} ${spokenIn.join(", ")}`;
}

/** Returns charts of the library by author and by year. They count pages, or passages if no document has pages. */
function charts({ authors, years, pages }: Statistics, { moves }: Words): string[] {
  const unit = pages > 0 ? "pages" : "passages";
  const chart = (title: string, shares: readonly Share[]): string[] => {
    const rows = shares.map((share) => ({ name: share.name || moves.unknown, value: share[unit] }));
    return rows.length === 0 ? [] : ["", title, ...bars(rows, BAR_WIDTH)];
  };
  const most = authors.slice(0, MAX_ROWS);
  const rest = authors.length - most.length;
  return [
    ...chart(moves.byAuthor[unit], most),
    ...(rest > 0 ? [moves.moreAuthors(rest)] : []),
    ...chart(moves.byYear[unit], spans(years)),
  ];
}

/** Groups years into spans of 10, 50, 100 or 500 if a row per year would make the chart too long. */
function spans(years: readonly Share[]): readonly Share[] {
  for (const span of [1, 10, 50, 100, 500]) {
    const rows = new Map<number, Share>();
    for (const year of years) {
      const start = Math.floor(Number(year.name) / span) * span;
      const name = span === 1 ? year.name : `${start}–${start + span - 1}`;
      const own = rows.get(start) ?? { name, documents: 0, pages: 0, passages: 0 };
      rows.set(start, {
        name,
        documents: own.documents + year.documents,
        pages: own.pages + year.pages,
        passages: own.passages + year.passages,
      });
    }
    if (rows.size <= MAX_ROWS || span === 500) return Array.from(rows.values());
  }
  return years;
}

function extent({ documents, chunks }: { readonly documents: number; readonly chunks: number }, words: Words): string {
  return `${words.documents(documents)}, ${words.passages(chunks)}`;
}

function open(io: CommandIo): Promise<LibraryStore> {
  return openStore(parseStore(libraryStore(io.env)));
}
