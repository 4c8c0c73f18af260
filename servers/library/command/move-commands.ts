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
import { EXIT, type CommandIo } from "./library-commands.ts";

interface Shared {
  readonly json?: boolean;
}

/** Writes the whole library to one file. */
export async function exportTo(file: string, options: Shared, io: CommandIo): Promise<number> {
  await using store = await open(io);
  const path = resolve(io.cwd, file);
  const counts = await exportLibrary(store, path, { signal: io.signal });
  if (options.json) await io.print(JSON.stringify({ file: path, ...counts }));
  else await io.print(`exported   ${extent(counts.documents, counts.chunks)} to ${path}`);
  return EXIT.ok;
}

/** Takes in what `export` wrote. */
export async function importFrom(file: string, options: Shared, io: CommandIo): Promise<number> {
  await using store = await open(io);
  const counts = await importLibrary(store, resolve(io.cwd, file), { signal: io.signal });
  await store.repair();
  if (options.json) await io.print(JSON.stringify(counts));
  else await io.print(`imported   ${extent(counts.documents, counts.chunks)}`);
  return EXIT.ok;
}

export interface MoveOptions extends Shared {
  readonly to: string;
}

/** Copies the library to another store and compares what both find. Gives 1 where that differs. */
export async function move(options: MoveOptions, io: CommandIo): Promise<number> {
  const target = parseStore(options.to);
  await using from = await open(io);
  await using to = await openStore(target);
  const embedder = await openTableEmbedder();
  const { documents, unchanged, compared } = await moveLibrary(from, to, { embedder, signal: io.signal });
  const { engine, place } = await to.describe();
  const { queries, equal, different } = compared;
  if (options.json) await io.print(JSON.stringify({ documents, unchanged, engine, place, queries, equal, different }));
  else {
    const already = unchanged > 0 ? `, ${unchanged} of them there already` : "";
    await io.print(`moved      ${counted(documents, "document")}${already}, to ${engine} at ${place}`);
    await io.print(`compared   ${equal} of ${counted(queries, "question")} find the same in both`);
    for (const query of different) await io.say(`different  ${query}`);
    if (different.length === 0)
      await io.say("The library here stays as it is. Name the new one: [library] store, or LIBRARY_STORE.");
  }
  return different.length === 0 ? EXIT.ok : EXIT.failed;
}

export interface DoctorOptions extends Shared {
  readonly repair?: boolean;
}

/** Looks the library through. Gives 1 where something is wrong. */
export async function doctor(options: DoctorOptions, io: CommandIo): Promise<number> {
  await using store = await open(io);
  const embedder = await openTableEmbedder();
  if (options.repair) await store.repair();
  const { findings, ...facts } = await examine(store, embedder);
  if (options.json) await io.print(JSON.stringify({ ...facts, findings }));
  else {
    await io.print(`${facts.engine}, ${facts.place}`);
    const vectors = facts.embedder === undefined ? "no vectors" : `vectors of ${facts.embedder}`;
    await io.print(`${extent(facts.documents, facts.passages)}, ${vectors}`);
    for (const { what } of findings) await io.say(`wrong      ${what}`);
    if (findings.some(({ canMend }) => canMend)) await io.say("toolyard library doctor --repair mends what can be.");
    if (findings.length === 0) await io.print("Nothing is wrong.");
  }
  return findings.length === 0 ? EXIT.ok : EXIT.failed;
}

/** Copies the library's file while it is in use. */
export async function backup(file: string, options: Shared, io: CommandIo): Promise<number> {
  await using store = await open(io);
  const path = resolve(io.cwd, file);
  if (!store.backup) throw new DocumentError("VALIDATION_ERROR", store.backupAdvice ?? "This store has no backup.");
  await store.backup(path);
  await io.print(options.json ? JSON.stringify({ file: path }) : `saved      ${path}`);
  return EXIT.ok;
}

/** Bars of a chart, rows of one, and years that make one row where there are many. */
const BAR_WIDTH = 30;
const MAX_ROWS = 12;

/** What the library holds, with pages by author and by year. */
export async function stats(options: Shared, io: CommandIo): Promise<number> {
  await using store = await open(io);
  const statistics = await statisticsOf(store);
  if (options.json) await io.print(JSON.stringify(statistics));
  else if (statistics.documents === 0) await io.say("The library is empty. Add files: toolyard library add FILE…");
  else await io.print([summaryOf(statistics), ...charts(statistics)].join("\n"));
  return EXIT.ok;
}

function summaryOf({ documents, passages, pages, languages }: Statistics): string {
  const spoken = Object.entries(languages)
    .toSorted(([, one], [, other]) => other - one)
    .map(([language, count]) => `${language || "unknown"} ${count}`);
  return `${extent(documents, passages)}, ${counted(pages, "page")}; languages: ${spoken.join(", ")}`;
}

/** By pages, or by passages in a library whose documents have none. */
function charts({ authors, years, pages }: Statistics): string[] {
  const unit = pages > 0 ? "pages" : "passages";
  const chart = (title: string, shares: readonly Share[]): string[] =>
    shares.length === 0
      ? []
      : [
          "",
          title,
          ...bars(
            shares.map((share) => ({ name: share.name || "unknown", value: share[unit] })),
            BAR_WIDTH,
          ),
        ];
  const most = authors.slice(0, MAX_ROWS);
  const rest = authors.length - most.length;
  return [
    ...chart(`${unit} by author`, most),
    ...(rest > 0 ? [`and ${counted(rest, "more author")}`] : []),
    ...chart(`${unit} by year`, spans(years)),
  ];
}

/** Years as they are, or in spans of ten, fifty … so that the chart stays small. */
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

function extent(documents: number, passages: number): string {
  return `${counted(documents, "document")}, ${counted(passages, "passage")}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function open(io: CommandIo): Promise<LibraryStore> {
  return openStore(parseStore(libraryStore(io.env)));
}
