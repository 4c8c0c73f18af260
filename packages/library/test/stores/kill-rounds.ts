// `kill-rounds.ts ADDRESS ROUNDS [PART,PART…]`: kills a process in every stage of a reading, and at every point of a
// write, the given number of times.
// - For a file: also while its thread writes a book, with two processes that write at the same time, and with a full
// disk.
// - For a server: with a network that breaks during answers and, if the parent process can restart the server, with a
// server that stops.
//
// Prints the results of each stage after it. Exits with 1 if a document is stored in part.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, parseStore } from "../../src/store/open-store.ts";
import type { LibraryStore } from "../../src/store/store.ts";
import { fill, madeDocuments } from "./corpus.ts";
import { cuts } from "./cuts.ts";
import { BOOK_CHUNKS } from "./doomed-document.ts";
import { DoomedWriters, wholeReading } from "./kills.ts";
import { outages } from "./outages.ts";
import { openReadingKills, READING_STAGES } from "./reading-kills.ts";

const WRITING_STAGES = ["before", "taking out", "passages", "last passages", "end"];

/** Number of processes that start in advance. */
const AHEAD = 2;

const [given = "", rounds = "20", wanted = "readings,writes,books,writers,faults"] = process.argv.slice(2);
const isFile = given.startsWith("sqlite:");
const address = isFile ? given : `${given}?collection=kills`;
const parts = new Set(wanted.split(","));
if (parts.has("readings")) await readings();
if (parts.has("writes")) await withWriters(writes);
if (parts.has("books") && isFile) await withWriters(books);
if (parts.has("writers")) await twoWriters();
if (parts.has("faults")) await faults();
if (process.send) process.disconnect();

async function faults(): Promise<void> {
  if (isFile) return fullDisk();
  await cuts(address);
  if (process.send) await outages(address);
}

/** Kills a process in each stage of reading a document. The write after it is killed at each point below. */
async function readings(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-readings-"));
  const shelf = { address: isFile ? `sqlite://${folder}/library.db` : `${given}?collection=readings`, folder };
  let word = "w0x";
  const kills = await openReadingKills(shelf, word, AHEAD);
  try {
    for (const stage of READING_STAGES) {
      const seen = new Map<string, number>();
      for (let round = 0; round < Number(rounds); round += 1) {
        const next = `w${round}${stage.replaceAll(" ", "")}`;
        const left = (await kills.kill(stage, next)).map((own) => (own === word ? "before" : "after"));
        word = next;
        seen.set(left.join(" and "), (seen.get(left.join(" and ")) ?? 0) + 1);
      }
      const shown = Array.from(seen, ([what, count]) => `${count} × ${what}`).join("; ");
      console.log(
        `reading, killed at «${stage}»: two documents were there as ${shown}; the job was taken up each time`,
      );
    }
  } finally {
    await kills[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withWriters(work: (writers: DoomedWriters) => Promise<void>): Promise<void> {
  const writers = new DoomedWriters(AHEAD);
  try {
    await work(writers);
  } finally {
    await writers[Symbol.asyncDispose]();
  }
}

async function writes(writers: DoomedWriters): Promise<void> {
  // The first write deletes nothing.
  await writers.stepsOfWrite(address, "w0");
  const steps = await writers.stepsOfWrite(address, "w0x");
  let expected = "w0x";
  for (const [stage, name] of WRITING_STAGES.entries()) {
    let [killed, written, mended] = [0, 0, 0];
    for (let round = 0; round < Number(rounds); round += 1) {
      // Spread evenly over all steps, so that every stage is covered.
      const at = stage * Number(rounds) + round;
      const step = 1 + Math.floor((at * steps) / (WRITING_STAGES.length * Number(rounds)));
      const word = `w${at + 1}y`;
      const end = await writers.writeAndKill(address, String(step), word);
      const { found, isMended } = await opened(address, (store) => lookedAt(store, `step ${step} of ${steps}`));
      if (isMended) mended += 1;
      if (end === "written") written += 1;
      else killed += 1;
      if (found !== word && (end === "written" || found !== expected))
        throw new Error(`After step ${step} of ${steps}, ${found} is there, and neither ${word} nor ${expected}.`);
      expected = found!;
    }
    console.log(
      `write of ${steps} steps, «${name}»: ${killed} killed, ${written} written to the end: whole; ` +
        `${mended} left remains`,
    );
  }
}

/** Kills the thread that writes a book when the file's log has each of several sizes, from none to all. */
async function books(writers: DoomedWriters): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-books-"));
  const place = `sqlite://${folder}/library.db`;
  const look = { chunks: BOOK_CHUNKS };
  let expected: string | undefined = "first";
  let [killed, written, asNew] = [0, 0, 0];
  try {
    await writers.writeAndKill(place, "log:Infinity", expected);
    for (let round = 0; round < Number(rounds); round += 1) {
      const word = `w${round}b`;
      const end = await writers.writeAndKill(place, `log:${round / Math.max(1, Number(rounds) - 1)}`, word);
      const found = await opened(place, async (store) => {
        const reading = await wholeReading(store, look);
        const findings = await store.check();
        if (findings.length > 0) throw new Error(JSON.stringify(findings));
        return reading;
      });
      if (end === "written") written += 1;
      else killed += 1;
      if (found === word) asNew += 1;
      else if (end === "written" || found !== expected) throw new Error(`${found} is there, and not ${expected}.`);
      expected = found;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    `a book of ${BOOK_CHUNKS} passages by the thread: ${killed} killed at sizes of its log, ` +
      `${written} written to the end: whole, ${asNew} times as the new one`,
  );
}

async function lookedAt(
  store: LibraryStore,
  after: string,
): Promise<{ found?: string | undefined; isMended: boolean }> {
  // Reads before any repair, because the remains of an interrupted write must not be visible.
  const found = await wholeReading(store);
  if ((await store.check()).length === 0) return { found, isMended: false };
  await store.repair();
  const left = await store.check();
  if (left.length > 0) throw new Error(`After ${after}: ${JSON.stringify(left)}`);
  return { found, isMended: true };
}

/** Node 20 runs this file as TypeScript without a build, and does not support `using`. */
async function opened<Result>(place: string, work: (store: LibraryStore) => Promise<Result>): Promise<Result> {
  const store = await openStore(parseStore(place));
  try {
    return await work(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

function twoWriters(): Promise<void> {
  return opened(address, (one) => opened(address, (other) => opened(address, (reader) => write(one, other, reader))));
}

async function write(one: LibraryStore, other: LibraryStore, reader: LibraryStore): Promise<void> {
  const documents = await madeDocuments(24, 10);
  const own = new Set(documents.map(({ document }) => document.sourceId));
  const before = (await reader.documents({}, { limit: 500, offset: 0 })).documents;
  const others = before.filter(({ sourceId }) => !own.has(sourceId)).length;
  let reads = 0;
  const over = new AbortController();
  const reading = (async () => {
    while (!over.signal.aborted) {
      const { documents: found, total } = await reader.documents({}, { limit: 500, offset: 0 });
      if (found.length !== total) throw new Error(`${found.length} of ${total} documents.`);
      reads += 1;
      await new Promise((done) => setImmediate(done));
    }
  })();
  await Promise.all([fill(one, documents.slice(0, 14)), fill(other, documents.slice(10))]);
  over.abort();
  await reading;
  const findings = await reader.check();
  const { total } = await reader.documents({}, { limit: 1, offset: 0 });
  const mendable = findings.every(({ canMend }) => canMend);
  if (total !== others + documents.length || !mendable)
    throw new Error(`${total} documents: ${JSON.stringify(findings)}`);
  console.log(`two writers at the same time: 24 documents, ${reads} reads, ${findings.length} remains`);
}

/** Writes to a disk of 3 MB, if this user may create one. */
async function fullDisk(): Promise<void> {
  const disk = join(tmpdir(), `toolyard-full-${process.pid}`);
  mkdirSync(disk);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk]);
  if (mounted.status !== 0) {
    rmSync(disk, { recursive: true, force: true });
    return console.log("a full disk: skipped, no disk can be made here");
  }
  try {
    await opened(`sqlite://${disk}/library.db`, fillDisk);
  } finally {
    // Detached lazily: an engine may close its file only when its last statement is garbage-collected.
    spawnSync("umount", ["-l", disk]);
    rmSync(disk, { recursive: true, force: true });
  }
}

async function fillDisk(store: LibraryStore): Promise<void> {
  let kept = 0;
  let error: { code?: string; message?: string } | undefined;
  for (const document of await madeDocuments(400, 20)) {
    try {
      await fill(store, [document]);
      kept += 1;
    } catch (refused) {
      error = refused as Error;
      break;
    }
  }
  const { total } = await store.documents({}, { limit: 1, offset: 0 });
  const found = await store.candidates("chunk", { any: ["w1"] }, {});
  if (error?.code !== "STORE_UNAVAILABLE" || total !== kept || found.length === 0)
    throw new Error(`${total} of ${kept} documents, ${error?.message}`);
  console.log(`a full disk: ${kept} documents whole, then: ${error.message}`);
}
