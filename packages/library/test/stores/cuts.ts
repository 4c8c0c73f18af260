import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { searchPassages } from "../../src/search/search.ts";
import { Terms } from "../../src/search/terms.ts";
import { openStore, parseStore } from "../../src/store/open-store.ts";
import type { LibraryStore } from "../../src/store/store.ts";
import { createRandom } from "../../../../test/support/random.ts";
import { embedder, fill, madeDocuments } from "./corpus.ts";

const ROUNDS = 200;
/** Maximum number of response bytes after which a connection is closed. */
const MAX_BYTES = 300_000;
const request = { query: "w1 w2 w40", limit: 5, filter: {}, minSimilarity: 0 };

/**
 * A server behind a network that closes connections in the middle of answers. A search returns its complete answer or
 * fails as unavailable. A written document is complete, in its earlier or its later state.
 */
export async function cuts(address: string): Promise<void> {
  const place = address.replace("kills", "cuts");
  const direct = await openStore(parseStore(place));
  const network = await breakingNetwork(Number(new URL(place).port));
  try {
    const documents = await madeDocuments(10, 12);
    await fill(direct, documents);
    const expected = await searched(direct);
    const store = await openStore(parseStore(place.replace(/:\d+(?=[/?]|$)/, `:${network.port}`)));
    const seen = { found: 0, written: 0, refused: 0 };
    network.breaks = true;
    for (let round = 0; round < ROUNDS; round += 1) {
      await isDone(seen, async () => {
        if (!isDeepStrictEqual(await searched(store), expected)) throw new Error("Another answer than the whole one.");
        seen.found += 1;
      });
      const document = documents[round % documents.length]!;
      if (round % 5 === 0 && (await isDone(seen, () => fill(store, [document])))) seen.written += 1;
      const whole = await direct.whole(document.document.sourceId);
      if (whole?.text !== document.text || whole.passages.chunks.length !== document.chunks.length)
        throw new Error(`${document.document.sourceId} is there in part.`);
    }
    network.breaks = false;
    await store[Symbol.asyncDispose]();
    const { found, written, refused } = seen;
    if (found === 0 || refused === 0) throw new Error(`${found} found, ${refused} refused: nothing was tried.`);
    console.log(
      `connections cut ${network.cuts} times in the middle of answers: ${found} searches answered in full, ` +
        `${written} documents written, ${refused} refused as unavailable, none empty or short`,
    );
  } finally {
    await direct[Symbol.asyncDispose]();
    network.server.close();
  }
}

/** Returns hits without the numbers of passages, which change when a document is written again. */
async function searched(store: LibraryStore): Promise<unknown> {
  const { hits, matches } = await searchPassages("chunk", request, { store, terms: new Terms(), embedder });
  return [
    matches,
    hits.map(({ passage, similarity, score }) => [passage.sourceId, passage.ordinal, similarity, score]),
  ];
}

async function isDone(seen: { refused: number }, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "STORE_UNAVAILABLE") throw error;
    seen.refused += 1;
    return false;
  }
}

interface Network {
  readonly server: Server;
  readonly port: number;
  breaks: boolean;
  cuts: number;
}

async function breakingNetwork(target: number): Promise<Network> {
  const random = createRandom(17);
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    let left = Infinity;
    near.pipe(far);
    near.on("error", () => far.destroy()).on("close", () => far.destroy());
    far.on("error", () => near.destroy()).on("close", () => near.end());
    far.on("data", (piece: Buffer) => {
      // Also closes a connection that was open before.
      if (left === Infinity && network.breaks) left = 1 + random.below(MAX_BYTES);
      if (piece.length < left) near.write(piece);
      else {
        network.cuts += 1;
        near.write(piece.subarray(0, left), () => near.destroy());
        far.destroy();
      }
      left -= piece.length;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const network: Network = { server, port: (server.address() as AddressInfo).port, breaks: false, cuts: 0 };
  return network;
}
