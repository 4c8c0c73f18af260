// `kill-rounds.ts ADDRESS ROUNDS`: kills a process in every stage of a reading, and at every place of a write, so many
// times for each stage; two processes that write at the same time; for a file, a disk that is full; for a server, a
// network that breaks in the middle of answers, and where its parent can end and start it, one that goes away. Ends
// with 1 where a document is there in part.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, parseStore } from "../../../servers/library/store/open-store.ts";
import type { LibraryStore } from "../../../servers/library/store/store.ts";
import { fill, madeDocuments } from "./corpus.ts";
import { cuts } from "./cuts.ts";
import { wholeReading, writeAndKill } from "./kills.ts";
import { outages } from "./outages.ts";
import { killReading, READING_STAGES } from "./reading-kills.ts";

const STAGES = ["before", "taking out", "passages", "last passages", "end"];

const [given = "", rounds = "20"] = process.argv.slice(2);
const address = given.startsWith("sqlite:") ? given : `${given}?collection=kills`;
await readings();
await kills();
await writers();
if (address.startsWith("sqlite:")) await fullDisk();
else await cuts(address);
if (process.send) {
  await outages(address);
  process.disconnect();
}

/** What follows the stages of a reading is the write, which is killed at each of its places below. */
async function readings(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-readings-"));
  const place = address.startsWith("sqlite:") ? `sqlite://${folder}/library.db` : `${given}?collection=readings`;
  const seen = new Map<string, number>();
  try {
    for (const stage of READING_STAGES)
      for (let round = 0; round < Number(rounds); round += 1) {
        const left = (await killReading(place, folder, stage)).join(" and ");
        seen.set(`${stage}: ${left}`, (seen.get(`${stage}: ${left}`) ?? 0) + 1);
      }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const shown = Array.from(seen, ([what, count]) => `${count} × ${what}`).join("; ");
  console.log(`killed while two documents were read anew, then taken up: ${shown}`);
}

async function kills(): Promise<void> {
  if ((await writeAndKill(address, Infinity, "w0")) !== "written")
    throw new Error("The first reading was not written.");
  const steps = await stepsOfWrite();
  let expected = "w0x";
  let [killed, written, mended] = [0, 0, 0];
  for (let at = 0; at < STAGES.length * Number(rounds); at += 1) {
    // Evenly over all steps, so that each stage gets its share.
    const step = 1 + Math.floor((at * steps) / (STAGES.length * Number(rounds)));
    const word = `w${at + 1}y`;
    const end = await writeAndKill(address, step, word);
    const { found, isMended } = await opened(address, (store) => lookedAt(store, step));
    if (isMended) mended += 1;
    if (end === "written") written += 1;
    else killed += 1;
    if (found !== word && (end === "written" || found !== expected))
      throw new Error(`After step ${step} of ${steps}, ${found} is there, and neither ${word} nor ${expected}.`);
    expected = found!;
  }
  console.log(
    `${killed} killed in ${steps} steps, ${written} written to the end: always whole; ${mended} left remains`,
  );
}

async function lookedAt(store: LibraryStore, step: number): Promise<{ found?: string | undefined; isMended: boolean }> {
  // Before anything is mended: what is left of a write that was cut short must not show.
  const found = await wholeReading(store);
  if ((await store.check()).length === 0) return { found, isMended: false };
  await store.repair();
  const left = await store.check();
  if (left.length > 0) throw new Error(`After step ${step}: ${JSON.stringify(left)}`);
  return { found, isMended: true };
}

/** Node 20 runs this as it stands, and knows no `using`. */
async function opened<Result>(place: string, work: (store: LibraryStore) => Promise<Result>): Promise<Result> {
  const store = await openStore(parseStore(place));
  try {
    return await work(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

/** How many statements or requests a write is, found by doubling and halving. */
async function stepsOfWrite(): Promise<number> {
  let [low, high] = [1, 2];
  while ((await writeAndKill(address, high, "w0x")) === "killed") [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if ((await writeAndKill(address, middle, "w0x")) === "killed") low = middle;
    else high = middle;
  }
  await writeAndKill(address, Infinity, "w0x");
  return low;
}

function writers(): Promise<void> {
  return opened(address, (one) => opened(address, (other) => opened(address, (reader) => write(one, other, reader))));
}

async function write(one: LibraryStore, other: LibraryStore, reader: LibraryStore): Promise<void> {
  const documents = await madeDocuments(24, 10);
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
  if (total !== 25 || !mendable) throw new Error(`${total} documents: ${JSON.stringify(findings)}`);
  console.log(`two writers at the same time: 24 documents, ${reads} reads, ${findings.length} remains`);
}

/** On a disk of 3 MB, where this user may make one. */
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
    // Lazily: an engine may close its file only when its last statement is collected.
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
