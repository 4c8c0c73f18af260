import { once } from "node:events";
import { searchPassages } from "../../src/search/search.ts";
import { Terms } from "../../src/search/terms.ts";
import { openStore, parseStore } from "../../src/store/open-store.ts";
import type { LibraryStore } from "../../src/store/store.ts";
import { embedder, fill, madeDocuments, type MadeDocument } from "./corpus.ts";

const ROUNDS = 5;
const CHUNKS = 12;
const request = { query: "w1 w2 w40", limit: 5, filter: {}, minSimilarity: 0 };

/** Results of searches and writes while the server was killed, absent, and restarted. */
interface OutageCounts {
  found: number;
  written: number;
  refused: number;
}

/**
 * Kills the server during writes and searches, and starts it again. Every request in between is answered in full or
 * fails as unavailable. Afterwards each document is complete, in its earlier or its later state.
 */
export async function outages(address: string): Promise<void> {
  const store = await openStore(parseStore(address.replace("kills", "outages")));
  const seen: OutageCounts = { found: 0, written: 0, refused: 0 };
  let remains = 0;
  try {
    const documents = await madeDocuments(20, CHUNKS);
    await fill(store, documents);
    for (let round = 0; round < ROUNDS; round += 1) {
      await oneOutage(store, documents, { seen, killAfter: 1 + round * 3 });
      remains += (await expectWhole(store, documents)) ? 0 : 1;
    }
  } finally {
    await store[Symbol.asyncDispose]();
  }
  const { found, written, refused } = seen;
  if (refused === 0) throw new Error("Nobody noticed that the server was away.");
  console.log(
    `the server killed ${ROUNDS} times: ${found} searches answered, ${written} documents written, ${refused} refused ` +
      `as unavailable, none empty; documents whole each time, ${remains} times with remains`,
  );
}

async function oneOutage(
  store: LibraryStore,
  documents: readonly MadeDocument[],
  { seen, killAfter }: { readonly seen: OutageCounts; readonly killAfter: number },
): Promise<void> {
  const over = new AbortController();
  let writes = 0;
  const writer = (async () => {
    for (let at = 0; !over.signal.aborted; at += 1) {
      if (await isDone(seen, () => fill(store, [documents[at % documents.length]!]))) seen.written += 1;
      writes += 1;
    }
  })();
  const searcher = (async () => {
    while (!over.signal.aborted)
      await isDone(seen, async () => {
        const { hits } = await searchPassages("chunk", request, { store, terms: new Terms(), embedder });
        if (hits.length < request.limit) throw new Error(`${hits.length} passages of ${request.limit} were found.`);
        seen.found += 1;
      });
  })();
  await until(() => writes >= killAfter);
  await asked("stop");
  const refused = seen.refused;
  await until(() => seen.refused >= refused + 4);
  await asked("start");
  over.abort();
  await Promise.all([writer, searcher]);
}

/** Returns false if `work` failed as unavailable; throws any other failure. */
async function isDone(seen: OutageCounts, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!/^STORE_(?:UNAVAILABLE|BUSY)$/.test((error as { code?: string }).code ?? "")) throw error;
    seen.refused += 1;
    await new Promise((done) => setTimeout(done, 20));
    return false;
  }
}

/** Returns true if nothing remains of an interrupted write; remains must be invisible, and must be removed. */
async function expectWhole(store: LibraryStore, documents: readonly MadeDocument[]): Promise<boolean> {
  for (const { document, text, chunks, summaries } of documents) {
    const whole = await store.whole(document.sourceId);
    const same = [whole?.text === text, whole?.passages.chunks.length === chunks.length];
    if (!same.every(Boolean) || whole?.passages.summaries.length !== summaries.length)
      throw new Error(`${document.sourceId} is there in part: ${JSON.stringify(whole?.document)}`);
  }
  const isClean = (await store.check()).length === 0;
  if (isClean) return true;
  await store.repair();
  const left = await store.check();
  if (left.length > 0) throw new Error(JSON.stringify(left));
  return false;
}

/** Sends the request to the parent process, which started the server. */
async function asked(what: "stop" | "start"): Promise<void> {
  process.send!(what);
  await once(process, "message");
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setTimeout(done, 10));
}
