import { expect, test } from "vitest";
import { MemoryProvider } from "../fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import type { Embedder, TextEmbedder } from "../../packages/toolyard/src/core/ports/models.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { loadTokenTable } from "../../packages/toolyard/src/models/table/token-table.ts";
import { Catalog } from "../../packages/toolyard/src/catalog/catalog.ts";
import { resolveCatalog } from "../../packages/toolyard/src/catalog/options.ts";
import { SemanticSearch } from "../../packages/toolyard/src/catalog/search/semantic/semantic-search.ts";
import { TableSearch } from "../../packages/toolyard/src/catalog/search/likeness/table-search.ts";

const VIEW = { mode: "normal", principal: LOCAL_PRINCIPAL } as const;
const ROWS = [
  { name: "delete_rows", description: "Deletes rows of a table." },
  { name: "create_table", description: "Creates a table with these columns." },
  { name: "send_email", description: "Sends an email." },
];

/** A query that shares no word with any tool. */
const BY_MEANING = "answer a letter";

interface Place {
  readonly catalog: Catalog;
  readonly table: TableSearch;
  found(query: string): Promise<string[]>;
}

function placeWith(load: () => Promise<TextEmbedder>, ...providers: MemoryProvider[]): Place {
  const catalog = new Catalog(resolveCatalog(), providers);
  const table = new TableSearch({ load, waitMs: 60_000, logger: SILENT_LOGGER });
  catalog.searchWith(async () => table);
  const found = async (query: string): Promise<string[]> =>
    (await catalog.search(query, VIEW, { limit: 5 })).hits.map((hit) => hit.name);
  return { catalog, table, found };
}

const rowsProvider = (): MemoryProvider => new MemoryProvider({ id: "rows", namespace: "" }).offerTools(...ROWS);

/** Returns the shipped embedder, and the texts that it embedded. */
async function listening(): Promise<{ readonly embedder: TextEmbedder; readonly asked: string[] }> {
  const { model, dimensions, ...table } = await loadTokenTable().then((one) => ({
    model: one.model,
    dimensions: one.dimensions,
    embed: (text: string) => one.embed(text),
  }));
  const asked: string[] = [];
  const embed = (text: string): Float32Array => {
    asked.push(text);
    return table.embed(text);
  };
  return { embedder: { model, dimensions, embed }, asked };
}

test("finds a tool by meaning, without a word of the query", async () => {
  const { found } = placeWith(loadTokenTable, rowsProvider());
  expect((await found(BY_MEANING))[0]).toBe("send_email");
});

test("a query with unknown meaning finds nothing", async () => {
  const { found } = placeWith(loadTokenTable, rowsProvider());
  expect(await found("xylophone quartet")).toEqual([]);
});

test("the exact name of a tool stays first with a score of 1", async () => {
  const { catalog } = placeWith(loadTokenTable, rowsProvider());
  const { hits } = await catalog.search("create_table", VIEW, { limit: 5 });
  expect(hits[0]).toMatchObject({ name: "create_table", score: 1 });
  expect(hits.slice(1).every(({ score }) => score > 0 && score < 1)).toBe(true);
});

test("ranks a name with reordered words before a tool with a closer meaning", async () => {
  const mails = new MemoryProvider({ id: "mails", namespace: "" }).offerTools(
    { name: "email_send", description: "Internal." },
    { name: "deliver", description: "Sends email: send an email message, email somebody, send emails." },
  );
  const { found } = placeWith(loadTokenTable, mails);
  expect((await found("send email"))[0]).toBe("email_send");
  expect((await found("send an email message"))[0]).toBe("deliver");
});

test("lists by name for an empty query, without loading the table", async () => {
  const { found } = placeWith(() => Promise.reject(new Error("not wanted")), rowsProvider());
  expect(await found("  ")).toEqual(["create_table", "delete_rows", "send_email"]);
});

test("searches by words if the table cannot be read", async () => {
  const { found } = placeWith(() => Promise.reject(new Error("no such file")), rowsProvider());
  expect((await found("delete rows"))[0]).toBe("delete_rows");
  expect(await found(BY_MEANING)).toEqual([]);
});

test("embeds only new tools when one source changes", async () => {
  const { embedder, asked } = await listening();
  const other = new MemoryProvider({ id: "other", namespace: "other" }).offerTools({
    name: "one",
    description: "One.",
  });
  const { found, table } = placeWith(async () => embedder, rowsProvider(), other);
  await found("rows");
  await table.settled();
  asked.length = 0;
  other.offerTools({ name: "one", description: "One." }, { name: "two", description: "Two." });
  await found("rows");
  await table.settled();
  expect(asked).toContain("two");
  expect(asked).not.toContain("delete_rows");
});

test("explains a hit if requested", async () => {
  const { catalog } = placeWith(loadTokenTable, rowsProvider());
  const [asked] = (await catalog.search(BY_MEANING, VIEW, { limit: 1, why: true })).hits;
  expect(asked!.why).toMatchObject({ words: 0 });
  expect(asked!.why!.meaning).toBeGreaterThan(0);
  const [other] = (await catalog.search(BY_MEANING, VIEW, { limit: 1 })).hits;
  expect(other!.why).toBeUndefined();
});

test("similar tools of other servers add to the score of a tool", async () => {
  const { catalog, table } = placeWith(
    loadTokenTable,
    new MemoryProvider({ id: "a" }).offerTools({ name: "send_email", description: "Sends an email to somebody." }),
    new MemoryProvider({ id: "b" }).offerTools({ name: "send_mail", description: "Sends an email message." }),
    new MemoryProvider({ id: "c" }).offerTools({ name: "list_branches", description: "Lists branches." }),
  );
  const neighboursOf = async (name: string): Promise<number> => {
    const { hits } = await catalog.search("send email", VIEW, { limit: 5, why: true });
    return hits.find((hit) => hit.name === name)?.why?.neighbours ?? 0;
  };
  await neighboursOf("a__send_email");
  await table.settled();
  expect(await neighboursOf("a__send_email")).toBeGreaterThan(0);
  expect(await neighboursOf("c__list_branches")).toBe(0);
});

test("a large catalog does not delay other requests", async () => {
  const tools = Array.from({ length: 1500 }, (_, at) => ({
    name: `tool_${at}`,
    description: `Does the thing of number ${at} to every file, row, branch and message of the project.`,
  }));
  const half = (from: number) => tools.filter((_, at) => at % 2 === from);
  const { found, table } = placeWith(
    loadTokenTable,
    new MemoryProvider({ id: "a" }).offerTools(...half(0)),
    new MemoryProvider({ id: "b" }).offerTools(...half(1)),
  );
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await found("file");
  await table.settled();
  isOver = true;
  expect(turns).toBeGreaterThan(10);
});

test("closing a search ends its preparation", async () => {
  const { found, table } = placeWith(loadTokenTable, rowsProvider());
  const search = found("rows");
  await table.close();
  expect(await search).toContain("delete_rows");
  expect(await table.evidence("rows", [])).toBeUndefined();
});

test("uses the table until the model has embedded every tool", async () => {
  let asked = 0;
  const silent: Embedder = { model: "silent", embed: () => new Promise(() => void (asked += 1)) };
  const { catalog, table, found } = placeWith(loadTokenTable, rowsProvider());
  const search = new SemanticSearch({ embedder: silent, waitMs: 60_000, logger: SILENT_LOGGER, table });
  catalog.searchWith(async () => search);
  expect((await found(BY_MEANING))[0]).toBe("send_email");
  expect(asked).toBe(1);
});
