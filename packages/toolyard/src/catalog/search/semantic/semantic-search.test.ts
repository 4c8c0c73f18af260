import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MemoryProvider } from "../../../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import type { Embedder } from "../../../core/ports/models.ts";
import { SILENT_LOGGER } from "../../../core/ports/ports.ts";
import { Catalog } from "../../catalog.ts";
import { resolveCatalog } from "../../options.ts";
import type { PreparedTool } from "../../source-part.ts";
import { TableSearch } from "../likeness/table-search.ts";
import { SemanticSearch } from "./semantic-search.ts";
import { VectorFile } from "./vector-file.ts";
import { searchTools } from "../search-tools.ts";
import { VectorStore } from "./vector-store.ts";

const VIEW = { mode: "normal", principal: LOCAL_PRINCIPAL } as const;
/** Words of each direction of meaning. */
const MEANINGS = [/letter|mail|envelope/i, /rain|umbrella|weather/i, /./];

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "toolyard-vectors-"))));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns an embedder with three meanings. `answer` may change or delay its result. */
function embedder(
  answer: (vectors: number[][], texts: readonly string[]) => Promise<number[][]> = async (vectors) => vectors,
): Embedder & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    model: "three meanings",
    embed: (texts) => {
      asked.push(...texts);
      return answer(
        texts.map((text) => MEANINGS.map((meaning, at) => (meaning.test(text) ? (at === 2 ? 0.1 : 1) : 0))),
        texts,
      );
    },
  };
}

const OFFERS = [
  { name: "post_office", description: "Brings an envelope on its way." },
  { name: "umbrella_advice", description: "Says what to take along." },
  { name: "calculator", description: "Adds." },
];

async function catalogWith(semantic: SemanticSearch): Promise<Catalog> {
  const catalog = new Catalog(resolveCatalog(), [new MemoryProvider({ id: "t", namespace: "" }).offerTools(...OFFERS)]);
  catalog.searchWith(async () => semantic);
  await catalog.search("warm up", VIEW, { limit: 5 });
  await semantic.settled();
  return catalog;
}

/** Returns a table that cannot be read, so that only words count. */
const noTable = (): TableSearch =>
  new TableSearch({ load: () => Promise.reject(new Error("none")), waitMs: 60_000, logger: SILENT_LOGGER });

function semantic(model: Embedder, waitMs = 60_000, file?: string): SemanticSearch {
  const options = { embedder: model, waitMs, logger: SILENT_LOGGER, table: noTable() };
  return new SemanticSearch({ ...options, ...(file !== undefined && { file }) });
}

test("with embeddings, finds a tool that shares no word with the query", async () => {
  const catalog = await catalogWith(semantic(embedder()));
  expect((await catalog.search("write a letter", VIEW, { limit: 5 })).hits[0]!.name).toBe("post_office");
  expect(searchTools(await catalog.snapshot(), { query: "write a letter", view: VIEW, limit: 5 }).hits).toEqual([]);
});

test("an exact name stays first with a score of 1, even if other tools are similar", async () => {
  const catalog = await catalogWith(semantic(embedder()));
  const { hits } = await catalog.search("umbrella_advice", VIEW, { limit: 5 });
  expect(hits[0]).toMatchObject({ name: "umbrella_advice", score: 1 });
  expect(hits.slice(1).every((hit) => hit.score < 1 && hit.score > 0)).toBe(true);
});

test("an empty query lists all tools by name without a request to the model", async () => {
  const model = embedder();
  const catalog = await catalogWith(semantic(model));
  const before = model.asked.length;
  expect((await catalog.search(" ", VIEW, { limit: 5 })).hits.map((hit) => hit.name)).toEqual([
    "calculator",
    "post_office",
    "umbrella_advice",
  ]);
  expect(model.asked.length).toBe(before);
});

test("rights and filters apply to similar tools too", async () => {
  const catalog = await catalogWith(semantic(embedder()));
  const guest = { mode: "normal", principal: { id: "guest", rights: { deny: ["post*"] } } } as const;
  expect((await catalog.search("write a letter", guest, { limit: 5 })).hits.map((hit) => hit.name)).not.toContain(
    "post_office",
  );
  expect((await catalog.search("write a letter", VIEW, { limit: 5, server: "elsewhere" })).hits).toEqual([]);
});

test("returns results by words while vectors are being loaded", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const model = semantic(embedder((vectors) => held.then(() => vectors)));
  const catalog = new Catalog(resolveCatalog(), [new MemoryProvider({ id: "t", namespace: "" }).offerTools(...OFFERS)]);
  catalog.searchWith(async () => model);
  expect((await catalog.search("calculator adds", VIEW, { limit: 5 })).hits.map((hit) => hit.name)).toEqual([
    "calculator",
  ]);
  expect((await catalog.search("letter", VIEW, { limit: 5 })).hits).toEqual([]);
  release();
  await model.settled();
  expect((await catalog.search("letter", VIEW, { limit: 5 })).hits[0]!.name).toBe("post_office");
});

test("returns results by words if the query's vector is late or the model fails", async () => {
  const silent = embedder((vectors, texts) =>
    texts.includes("letter") ? new Promise(() => {}) : Promise.resolve(vectors),
  );
  expect((await (await catalogWith(semantic(silent, 1))).search("letter", VIEW, { limit: 5 })).hits).toEqual([]);
  const failing = embedder((vectors, texts) =>
    texts.includes("letter") ? Promise.reject(new Error("no")) : Promise.resolve(vectors),
  );
  expect((await (await catalogWith(semantic(failing))).search("letter", VIEW, { limit: 5 })).hits).toEqual([]);
});

test("waits once, not twice, if the vectors of the tools and of the query are both late", async () => {
  const model = semantic(
    embedder((vectors, texts) => (texts.includes("letter") ? new Promise(() => {}) : Promise.resolve(vectors))),
    10,
  );
  let tools: readonly PreparedTool[] = [];
  const catalog = new Catalog(resolveCatalog(), [new MemoryProvider({ id: "t" }).offerTools(...OFFERS)]);
  catalog.searchWith(async () => ({ evidence: async (_, all) => void (tools = all), close: async () => {} }));
  await catalog.search("warm up", VIEW, { limit: 5 });
  await model.evidence("warm up", tools);
  await model.settled();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  // Each read of the clock advances it by more than a slice, so that each step takes a whole turn of the event loop.
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
  const isAnswered = vi.fn<() => void>();
  void model.evidence("letter", [...tools]).then(isAnswered);
  await vi.advanceTimersByTimeAsync(9);
  expect(isAnswered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(isAnswered).toHaveBeenCalledOnce();
});

test("reads the vectors of many tools in slices, with other work in between", async () => {
  const model = semantic(embedder());
  const offers = Array.from({ length: 100 }, (_, at) => ({ name: `advice_${at}`, description: "Says what to take." }));
  const catalog = new Catalog(resolveCatalog(), [new MemoryProvider({ id: "t" }).offerTools(...offers)]);
  catalog.searchWith(async () => model);
  await catalog.search("warm up", VIEW, { limit: 5 });
  await model.settled();
  // Each read of the clock advances it by a millisecond, so that a step takes one millisecond.
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await catalog.search("rain", VIEW, { limit: 5 });
  clearImmediate(next);
  vi.restoreAllMocks();
  expect(turns).toBeGreaterThan(10);
  await model.close();
});

test("requests the vector of a tool once, and again after a change", async () => {
  const model = embedder();
  const provider = new MemoryProvider({ id: "t", namespace: "" }).offerTools(...OFFERS);
  const search = semantic(model);
  const catalog = new Catalog(resolveCatalog(), [provider]);
  catalog.searchWith(async () => search);
  for (let round = 0; round < 3; round += 1) {
    await catalog.search("letter", VIEW, { limit: 5 });
    await search.settled();
  }
  const aboutTools = () => model.asked.filter((text) => text.startsWith("t: "));
  expect(aboutTools()).toHaveLength(3);
  provider.offerTools(...OFFERS.slice(0, 2), { name: "calculator", description: "Subtracts too." });
  await catalog.search("letter", VIEW, { limit: 5 });
  await search.settled();
  expect(aboutTools()).toHaveLength(4);
});

test("a later run reads the vectors of an earlier run from disk", async () => {
  const file = join(folder, "vectors.bin");
  const first = semantic(embedder(), 60_000, file);
  await catalogWith(first);
  await first.close();
  const model = embedder();
  const catalog = await catalogWith(semantic(model, 60_000, file));
  expect((await catalog.search("letter", VIEW, { limit: 5 })).hits[0]!.name).toBe("post_office");
  expect(model.asked.filter((text) => text.startsWith("t: "))).toEqual([]);
});

test("requests vectors again after a failure, but only after a pause", async () => {
  let now = 0;
  let fails = true;
  const model = embedder((vectors) => (fails ? Promise.reject(new Error("down")) : Promise.resolve(vectors)));
  const store = new VectorStore({ embedder: model, logger: SILENT_LOGGER, now: () => now });
  const text = { text: "rain", key: "00".repeat(32) };
  const asks = async (): Promise<number> => {
    const before = model.asked.length;
    store.want([text]);
    await store.settled();
    return model.asked.length - before;
  };
  expect(await asks()).toBe(1);
  expect(await asks()).toBe(0);
  now += 10_000;
  fails = false;
  expect(await asks()).toBe(1);
  expect(store.get(text.key)).toBeDefined();
});

test("vectors read from disk equal the originals, including appended vectors", async () => {
  const file = new VectorFile(join(folder, "v.bin"));
  await file.append(new Map([["11".repeat(32), Float32Array.of(1, -0.5)]]), true);
  await file.append(new Map([["22".repeat(32), Float32Array.of(0.25, 3)]]), false);
  const { vectors, isWhole } = await file.load();
  expect(isWhole).toBe(true);
  expect([...vectors]).toEqual([
    ["11".repeat(32), Float32Array.of(1, -0.5)],
    ["22".repeat(32), Float32Array.of(0.25, 3)],
  ]);
});

test("ignores a truncated record, and treats a file of another kind as empty", async () => {
  const path = join(folder, "v.bin");
  const file = new VectorFile(path);
  await file.append(
    new Map([
      ["11".repeat(32), Float32Array.of(1)],
      ["22".repeat(32), Float32Array.of(2)],
    ]),
    true,
  );
  truncateSync(path, statSync(path).size - 3);
  const { vectors, isWhole } = await file.load();
  expect([[...vectors.keys()], isWhole]).toEqual([["11".repeat(32)], false]);
  writeFileSync(path, "something else");
  expect(await file.load()).toEqual({ vectors: new Map(), isWhole: false });
});
