// Hostile tools, queries, tables and models, and concurrent changes.
import { expect, test } from "vitest";
import { MemoryProvider } from "../fixtures/memory-provider.ts";
import { Catalog } from "../../packages/toolyard/src/catalog/catalog.ts";
import { resolveCatalog } from "../../packages/toolyard/src/catalog/options.ts";
import { SemanticSearch } from "../../packages/toolyard/src/catalog/search/semantic/semantic-search.ts";
import { unitVector } from "../../packages/toolyard/src/catalog/search/semantic/vector-store.ts";
import { TableSearch } from "../../packages/toolyard/src/catalog/search/likeness/table-search.ts";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import type { Embedder, TextEmbedder } from "../../packages/toolyard/src/core/ports/models.ts";
import { SILENT_LOGGER, type SearchHit } from "../../packages/toolyard/src/core/ports/ports.ts";
import { loadTokenTable } from "../../packages/toolyard/src/models/table/token-table.ts";

const VIEW = { mode: "all", principal: LOCAL_PRINCIPAL } as const;

interface Place {
  readonly catalog: Catalog;
  readonly table: TableSearch;
  found(query: string): Promise<readonly SearchHit[]>;
}

function placeWith(providers: readonly MemoryProvider[], load: () => Promise<TextEmbedder> = loadTokenTable): Place {
  const catalog = new Catalog(resolveCatalog(), providers);
  const table = new TableSearch({ load, waitMs: 60_000, logger: SILENT_LOGGER });
  catalog.searchWith(async () => table);
  const found = async (query: string): Promise<readonly SearchHit[]> =>
    (await catalog.search(query, VIEW, { limit: 50, why: true })).hits;
  return { catalog, table, found };
}

const names = (hits: readonly SearchHit[]): string[] => hits.map(({ name }) => name);

const HOSTILE = [
  { name: "__proto__", description: "constructor prototype __proto__" },
  { name: "constructor", description: "" },
  { name: "hasOwnProperty", description: "toString valueOf" },
  {
    name: "odd_parameters",
    description: "Takes odd parameters.",
    inputSchema: JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"description":5},"":null}}',
    ),
  },
  { name: "no_schema", description: "   ", inputSchema: { type: "object", properties: 5 } },
  { name: "emoji", description: "🎉🎉🎉 👩‍👩‍👧‍👦 🏳️‍🌈" },
  { name: "right_to_left", description: "ابحث عن الملفات \u202eelif eteled\u202c חיפוש" },
  { name: "half", description: "a half of a pair \ud83d and \udc00" },
  { name: "large", description: "delete the rows ".repeat(70_000) },
  { name: "one_word", description: "x".repeat(1_000_000) },
  {
    name: "wide",
    description: "Wide.",
    inputSchema: { type: "object", properties: { ["long ".repeat(200_000)]: { type: "string" } } },
  },
  { name: "delete_rows", description: "Deletes rows of a table." },
];

const place = placeWith([
  new MemoryProvider({ id: "hostile" }).offerTools(...HOSTILE),
  new MemoryProvider({ id: "constructor" }).offerTools({ name: "toString", description: "Deletes a row." }),
]);

test.each([
  "delete the rows of a table",
  "__proto__",
  "constructor",
  "toString valueOf hasOwnProperty",
  "🎉",
  "\ud83d",
  "ابحث عن الملفات",
  "\u202e\u0000\u200b",
  "x".repeat(100_000),
  "get rid of stored rows ".repeat(5000),
  "((((.*)+)+)+)$",
])("scores are ordered numbers from 0 to 1 for all texts and callers (%#)", async (query) => {
  const hits = await place.found(query);
  await place.table.settled();
  for (const one of [hits, await place.found(query)]) {
    const scores = one.map(({ score }) => score);
    expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    for (const { why } of one) expect(Object.values(why ?? {}).every(Number.isFinite)).toBe(true);
  }
});

test("finds a tool by a name that is also a property of every object", async () => {
  expect(names(await place.found("__proto__"))[0]).toBe("hostile____proto__");
  expect(names(await place.found("hostile__constructor"))[0]).toBe("hostile__constructor");
});

test("a description of a million letters does not rank its tool before the right one", async () => {
  expect(names(await place.found("delete rows"))[0]).toBe("hostile__delete_rows");
});

/** Replaces the embedding table by one whose vectors consist of one value, which its reader accepts. */
const telling = (value: number): TextEmbedder => ({
  model: "broken",
  dimensions: 6,
  embed: () => new Float32Array(6).fill(value),
});

test.each([NaN, Infinity, -Infinity, 0, 1e38])(
  "an embedder that returns %d keeps the order by words",
  async (value) => {
    const tools = (): MemoryProvider[] => [
      new MemoryProvider({ id: "rows", namespace: "" }).offerTools("delete_rows", "read_rows", "send_email"),
      new MemoryProvider({ id: "other", namespace: "" }).offerTools("delete_file"),
    ];
    const { found, table } = placeWith(tools(), async () => telling(value));
    await found("delete rows");
    await table.settled();
    const hits = await found("delete rows");
    expect(names(hits)[0]).toBe("delete_rows");
    expect(hits.every(({ score }) => score > 0 && score < 1)).toBe(true);
  },
);

test("a source removed during embedding appears in no search, now or later", async () => {
  const gone = new MemoryProvider({ id: "gone" }).offerTools({ name: "send_email", description: "Sends an email." });
  const stays = new MemoryProvider({ id: "stays" }).offerTools({ name: "send_mail", description: "Sends a mail." });
  const shipped = await loadTokenTable();
  let isFirst = true;
  const { catalog, table, found } = placeWith([gone, stays], async () => ({
    model: shipped.model,
    dimensions: shipped.dimensions,
    embed: (text) => {
      if (isFirst) catalog.remove("gone");
      isFirst = false;
      return shipped.embed(text);
    },
  }));
  expect(names(await found("send an email"))).toContain("stays__send_mail");
  expect(names(await found("send an email"))).toEqual(["stays__send_mail"]);
  await table.settled();
  expect(names(await found("send an email"))).toEqual(["stays__send_mail"]);
});

test("adds similar tools to the score also after concurrent searches with different rights", async () => {
  const offer = (id: string): MemoryProvider =>
    new MemoryProvider({ id }).offerTools({ name: "send_email", description: "Sends an email to somebody." });
  const { catalog, table, found } = placeWith([offer("a"), offer("b"), offer("c")]);
  const guest = { mode: "all", principal: { ...LOCAL_PRINCIPAL, id: "g", rights: { deny: ["c__*"] } } } as const;
  const asGuest = async (): Promise<readonly SearchHit[]> =>
    (await catalog.search("send an email", guest, { limit: 5, why: true })).hits;
  await Promise.all([found("send an email"), asGuest(), found("send an email"), asGuest()]);
  await table.settled();
  for (const hits of [await found("send an email"), await asGuest()])
    expect(hits.every(({ why }) => why!.neighbours > 0)).toBe(true);
});

test("after two concurrent changes with searches between them, search finds the current tools", async () => {
  const a = new MemoryProvider({ id: "a" }).offerTools("one");
  const b = new MemoryProvider({ id: "b" }).offerTools("two");
  const { table, found } = placeWith([a, b]);
  const before = found("send");
  a.offerTools("send_one");
  const during = found("send");
  b.offerTools("send_two");
  await Promise.all([before, during, found("send")]);
  await table.settled();
  expect(names(await found("send")).toSorted()).toEqual(["a__send_one", "b__send_two"]);
});

const BY_MEANING = "envoyer un courriel";

function withModel(embed: Embedder["embed"]): Place & { readonly search: SemanticSearch } {
  const rows = new MemoryProvider({ id: "rows", namespace: "" }).offerTools(
    { name: "send_email", description: "Sends an email." },
    { name: "delete_rows", description: "Deletes rows of a table." },
  );
  const made = placeWith([rows]);
  const search = new SemanticSearch({
    embedder: { model: "odd", embed },
    waitMs: 60_000,
    logger: SILENT_LOGGER,
    table: made.table,
  });
  made.catalog.searchWith(async () => search);
  return { ...made, search };
}

test("ignores a model whose vectors of queries and tools differ in length, and uses the token table", async () => {
  let length = 3;
  const { found, search } = withModel(async (texts) => texts.map(() => Array.from({ length }, () => 1)));
  await found(BY_MEANING);
  await search.settled();
  length = 4;
  expect(names(await found("un courriel à envoyer"))[0]).toBe("send_email");
  await found(BY_MEANING);
  await search.settled();
  expect(names(await found(BY_MEANING)).length).toBeLessThanOrEqual(2);
});

test("if a model fails for tools and queries, the table is used", async () => {
  const { found, search } = withModel(() => Promise.reject(new Error("503")));
  expect(names(await found(BY_MEANING))[0]).toBe("send_email");
  await search.settled();
  expect(names(await found(BY_MEANING))[0]).toBe("send_email");
});

test("a vector with huge numbers keeps its direction, and zeros stay zeros", () => {
  expect([...unitVector([3e300, 4e300])].map((value) => value.toFixed(2))).toEqual(["0.60", "0.80"]);
  expect([...unitVector([1.7e308, 1.7e308])].every(Number.isFinite)).toBe(true);
  expect([...unitVector([0, 0])]).toEqual([0, 0]);
});
