import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../../../../../test/fixtures/cpu-time.ts";
import { MemoryProvider } from "../../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { SearchAnswer, SearchFilter } from "../../core/ports/ports.ts";
import type { ToolRecord } from "../../core/sources/records.ts";
import { Catalog } from "../catalog.ts";
import { resolveCatalog } from "../options.ts";
import { resolveMaxResults } from "./limits.ts";
import { searchTools } from "./search-tools.ts";
import { queryWords, stem, wordsOf } from "./words.ts";

const VIEW = { mode: "normal", principal: LOCAL_PRINCIPAL } as const;

type Facts = Partial<ToolRecord> & { readonly name: string };

async function searchIn(
  tools: readonly Facts[],
  query: string,
  limit = 5,
  filter: SearchFilter = {},
): Promise<SearchAnswer> {
  const catalog = new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "local", namespace: "" }).offerTools(...tools),
  ]);
  const snapshot = await catalog.snapshot();
  catalog.close();
  return searchTools(snapshot, { query, view: VIEW, limit, filter });
}

async function found(tools: readonly Facts[], query: string, limit = 5): Promise<string[]> {
  return (await searchIn(tools, query, limit)).hits.map((hit) => hit.name);
}

const TOOLS: readonly Facts[] = [
  { name: "calculator", description: "Adds, subtracts, multiplies and divides two numbers." },
  {
    name: "send_email",
    description: "Sends a message to somebody.",
    keywords: ["smtp", "newsletter"],
    visibility: "ondemand",
  },
  {
    name: "read_file",
    description: "Reads a text file from disk.",
    inputSchema: {
      type: "object",
      properties: { encoding: { type: "string", enum: ["latin1"], description: "Charset of the bytes" } },
    },
  },
  { name: "getWeatherForecast", description: "Tells how the sky will be." },
];

test("T29: finds a tool by a word of its name", async () => {
  expect((await found(TOOLS, "email"))[0]).toBe("send_email");
});

test("T13: finds a tool by its keyword, and not without the keyword", async () => {
  expect(await found(TOOLS, "newsletter")).toEqual(["send_email"]);
  expect(await found([{ name: "send_email", description: "Sends a message." }], "newsletter")).toEqual([]);
});

test.each([
  ["divides", "calculator"],
  ["weather", "getWeatherForecast"],
  ["encoding", "read_file"],
  ["charset", "read_file"],
  ["latin1", "read_file"],
  ["reading files", "read_file"],
  ["please send an EMAIL to Ann", "send_email"],
])("`%s` finds %s first", async (query, name) => {
  expect((await found(TOOLS, query))[0]).toBe(name);
});

test("finds tools by the server's name", async () => {
  const catalog = new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "github" }).offerTools("merge"),
    new MemoryProvider({ id: "gitlab" }).offerTools("merge"),
  ]);
  const { hits } = searchTools(await catalog.snapshot(), { query: "gitlab merge", view: VIEW, limit: 5 });
  expect(hits[0]!.name).toBe("gitlab__merge");
});

test.each(["read_file", "READ_FILE", " read_file "])(
  "ranks the exact name `%s` first, with a score of 1",
  async (query) => {
    const tools = [...TOOLS, { name: "file_reader", description: "read file read_file", keywords: ["read_file"] }];
    const { hits } = await searchIn(tools, query);
    expect(hits[0]).toMatchObject({ name: "read_file", score: 1 });
    expect(hits[1]!.score).toBeLessThan(1);
  },
);

test("finds an exact name in every spelling, with and without its prefix", async () => {
  const catalog = new Catalog(resolveCatalog(), [new MemoryProvider({ id: "gh" }).offerTools("search_code", "search")]);
  const snapshot = await catalog.snapshot();
  for (const spelling of ["search_code", "gh__search_code", "gh::search_code", "GH__search_code"]) {
    expect(searchTools(snapshot, { query: spelling, view: VIEW, limit: 1 }).hits).toMatchObject([
      { name: "gh__search_code", score: 1 },
    ]);
  }
});

test("lists all tools by name, with a score of 1, for an empty query", async () => {
  const { hits, total } = await searchIn(TOOLS, "  ");
  expect(hits.map((hit) => [hit.name, hit.score])).toEqual([
    ["calculator", 1],
    ["getWeatherForecast", 1],
    ["read_file", 1],
    ["send_email", 1],
  ]);
  expect(total).toBe(4);
});

test("a hit has the name, description and schema of the list", async () => {
  const { hits } = await searchIn(
    [{ name: "t", description: "Does it.", inputSchema: {}, definition: { name: "t", description: "Does it." } }],
    "t",
  );
  expect(hits).toEqual([
    { name: "t", server: "local", description: "Does it.", score: 1, inputSchema: { type: "object" } },
  ]);
});

test("tolerates a typing error in a word that no tool has", async () => {
  expect(await found(TOOLS, "calcualtor")).toEqual(["calculator"]);
  expect(await found(TOOLS, "wether")).toEqual(["getWeatherForecast"]);
});

test("does not correct a word that a tool has", async () => {
  expect(
    await found(
      [
        { name: "mail_list", description: "" },
        { name: "main_list2", description: "" },
      ],
      "mail",
    ),
  ).toEqual(["mail_list"]);
});

test("finds a word by its start and by a part of it", async () => {
  expect(await found(TOOLS, "calcul")).toEqual(["calculator"]);
  expect(await found([{ name: "webhook_add", description: "" }], "hook")).toEqual(["webhook_add"]);
});

test("returns the nearest tools with low scores for a query that no tool matches", async () => {
  const { hits, total, instead } = await searchIn(TOOLS, "quantum chromodynamics", 5, { nearest: true });
  expect([hits.length, total, instead]).toEqual([4, 4, undefined]);
  for (const { score } of hits) expect(score).toBeLessThanOrEqual(0.05);
});

test("if no tool matches and no nearest tools are requested, returns only the servers", async () => {
  const servers = [{ id: "local", tools: 4 }];
  expect(await searchIn(TOOLS, "quantum chromodynamics")).toEqual({
    hits: [],
    total: 0,
    instead: { near: [], servers, noSuchServer: false },
  });
});

describe("deprecated tool", () => {
  const other = { name: "read_text_file", description: "Read a file as text." };
  test.each([
    "DEPRECATED: Use read_text_file instead. Read a file.",
    "Read a file. DEPRECATED: Use read_text_file instead.",
    "[Deprecated] Read a file. Prefer `read_text_file`.",
    "Legacy: read a file, replaced by read_text_file.",
    "Read a file. This tool is deprecated, superseded by read_text_file.",
  ])("is ranked after its replacement: %j", async (description) => {
    expect(await found([{ name: "read_file", description }, other], "read a file")).toEqual([
      "read_text_file",
      "read_file",
    ]);
  });

  test("is ranked first for its exact name", async () => {
    const old = { name: "read_file", description: "DEPRECATED: Use read_text_file instead. Read a file." };
    expect((await found([old, other], "read_file"))[0]).toBe("read_file");
  });

  test("is a tool that is marked as deprecated, not one with a description about deprecated things", async () => {
    const lister = { name: "list_models", description: "Lists models, also deprecated models." };
    const [first, second] = await Promise.all([
      searchIn([lister], "list models"),
      searchIn([{ ...lister, description: "Lists models, also forgotten models." }], "list models"),
    ]);
    expect(first.hits[0]!.score).toBe(second.hits[0]!.score);
  });
});

describe("request in German or French with tools described in English", () => {
  const tools = [
    { name: "read_file", description: "Read the contents of a file." },
    { name: "delete_vm", description: "Delete a virtual machine." },
    { name: "list_confidential", description: "List confidential entries." },
    { name: "send_email", description: "Send an email to a recipient." },
  ];
  test.each([
    ["lies den Inhalt der Datei", "read_file"],
    ["virtuelle Maschine löschen", "delete_vm"],
    ["Loesche die Maschine", "delete_vm"],
    ["lis ce fichier", "read_file"],
    ["supprime la machine virtuelle", "delete_vm"],
    ["envoie un courriel à l'équipe", "send_email"],
    ["j'envoie d'autres courriels", "send_email"],
  ])("%j", async (query, name) => {
    expect((await found(tools, query))[0]).toBe(name);
  });

  test("does not search tool names for the articles of the request", async () => {
    expect(await found(tools, "den Datei")).toEqual(["read_file"]);
  });
});

test("for a query without hits in one server, suggests similar tool names", async () => {
  const snapshot = await new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "a" }).offerTools("read_file"),
    new MemoryProvider({ id: "b" }).offerTools("sum"),
  ]).snapshot();
  const { instead } = searchTools(snapshot, { query: "read_file", view: VIEW, limit: 5, filter: { server: "b" } });
  expect(instead).toMatchObject({ near: ["a__read_file"], noSuchServer: false });
  expect(searchTools(snapshot, { query: "sum", view: VIEW, limit: 5, filter: { server: "c" } }).instead).toMatchObject({
    noSuchServer: true,
  });
});

test.each(["gitlab", "GitLab", "GL"])("a search in the server %s finds only its tools", async (server) => {
  const providers = [
    new MemoryProvider({ id: "github" }).offerTools("merge"),
    new MemoryProvider({ id: "gitlab", namespace: "gl" }).offerTools("merge"),
  ];
  const snapshot = await new Catalog(resolveCatalog(), providers).snapshot();
  expect(
    searchTools(snapshot, { query: "merge", view: VIEW, limit: 5, filter: { server } }).hits.map((hit) => hit.name),
  ).toEqual(["gl__merge"]);
  expect(searchTools(snapshot, { query: "merge", view: VIEW, limit: 5 }).total).toBe(2);
});

test("a search for read-only tools omits all tools that are not marked as read-only", async () => {
  const annotated = {
    name: "read_note",
    definition: { name: "read_note", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  };
  const snapshot = await new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "notes" }).offerTools(annotated, "write_note"),
  ]).snapshot();
  expect(
    searchTools(snapshot, { query: "note", view: VIEW, limit: 5, filter: { readOnly: true } }).hits.map(
      (hit) => hit.name,
    ),
  ).toEqual(["notes__read_note"]);
  expect(searchTools(snapshot, { query: "note", view: VIEW, limit: 5, filter: { readOnly: false } }).total).toBe(2);
});

test("a tool that the caller may not use is in no result and no suggestion", async () => {
  const snapshot = await new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "a" }).offerTools("open_door", "shut_door"),
  ]).snapshot();
  const view = { mode: "normal", principal: { id: "guest", rights: { deny: ["*shut*"] } } } as const;
  expect(searchTools(snapshot, { query: "door", view, limit: 5 }).hits.map((hit) => hit.name)).toEqual([
    "a__open_door",
  ]);
  expect(searchTools(snapshot, { query: "shut_doof_zz", view, limit: 5 }).instead?.near ?? []).not.toContain(
    "a__shut_door",
  );
});

test("adjacent words of a query score higher if they are adjacent in the description too", async () => {
  const tools = [
    { name: "one", description: "Opens the pull gate and tells the request." },
    { name: "two", description: "Tells the gate and opens a pull request." },
  ];
  expect((await found(tools, "pull request"))[0]).toBe("two");
});

test("ranks a name with only words of the query before a name with other words", async () => {
  const tools = [
    { name: "list_user_branch_rules", description: "" },
    { name: "list_branch", description: "" },
  ];
  expect((await found(tools, "list branch"))[0]).toBe("list_branch");
});

test("ranks similar tools by how well their servers match the query", async () => {
  const providers = [
    new MemoryProvider({ id: "alpha" }).offerTools(
      { name: "get", description: "Gets a parcel." },
      { name: "paint", description: "Paints." },
    ),
    new MemoryProvider({ id: "omega" }).offerTools(
      { name: "get", description: "Gets a parcel." },
      { name: "track", description: "Tracks a parcel." },
    ),
  ];
  const { hits } = searchTools(await new Catalog(resolveCatalog(), providers).snapshot(), {
    query: "parcel",
    view: VIEW,
    limit: 3,
  });
  expect(hits[0]!.server).toBe("omega");
});

test("a synonym finds a tool, ranked after a tool with the word itself", async () => {
  const tools = [
    { name: "remove_item", description: "" },
    { name: "delete_item", description: "" },
  ];
  expect(await found(tools, "delete")).toEqual(["delete_item", "remove_item"]);
});

test("finds words in texts without spaces", async () => {
  expect(
    await found(
      [
        { name: "bing_search", description: "使用必应搜索指定的关键词" },
        { name: "other", description: "获取网页" },
      ],
      "搜索",
    ),
  ).toEqual(["bing_search"]);
});

test("sorts equal scores by name", async () => {
  const tools = ["cc", "aa", "bb"].map((name) => ({ name: `${name}_thing`, description: "Same words." }));
  const { hits } = await searchIn(tools, "thing");
  expect(hits.map((hit) => hit.name)).toEqual(["aa_thing", "bb_thing", "cc_thing"]);
  expect(new Set(hits.map((hit) => hit.score)).size).toBe(1);
});

test("the limit applies to hits, and the total counts all matches", async () => {
  const tools = Array.from({ length: 30 }, (_, at) => ({ name: `thing_${at}`, description: "" }));
  const answer = await searchIn(tools, "thing", 7);
  expect([answer.hits.length, answer.total]).toEqual([7, 30]);
});

test.each([
  [undefined, 5],
  [0, 5],
  [-3, 5],
  [Number.NaN, 5],
  ["7", 5],
  [null, 5],
  [0.5, 5],
  [2.9, 2],
  [1, 1],
  [100, 100],
  [101, 100],
  [Infinity, 100],
])("max_results %j returns %j results", (given, meant) => {
  expect(resolveMaxResults(given)).toBe(meant);
});

test("for any query, scores are 0 to 1, best first, then by name; the same query has the same result", async () => {
  const catalog = new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "x" }).offerTools(...TOOLS, "a.b", "__proto__", "constructor"),
  ]);
  const snapshot = await catalog.snapshot();
  const words = fc.array(
    fc.oneof(
      fc.constantFrom("email", "file", "read", "a", "the", "constructor", "__proto__", "x", "sendd"),
      fc.string({ unit: "binary", maxLength: 6 }),
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(words, (parts) => {
      const query = parts.join(" ");
      const { hits } = searchTools(snapshot, { query, view: VIEW, limit: 50 });
      for (const [at, hit] of hits.entries()) {
        expect(hit.score).toBeGreaterThan(0);
        expect(hit.score).toBeLessThanOrEqual(1);
        const next = hits[at + 1];
        if (next) expect(hit.score > next.score || (hit.score === next.score && hit.name < next.name)).toBe(true);
      }
      expect(searchTools(snapshot, { query, view: VIEW, limit: 50 }).hits).toEqual(hits);
    }),
  );
});

test("the next search finds a changed tool, and does not find a removed one", async () => {
  const provider = new MemoryProvider({ id: "x" }).offerTools({ name: "old", description: "apples" });
  const catalog = new Catalog(resolveCatalog(), [
    provider,
    new MemoryProvider({ id: "y" }).offerTools({ name: "pear", description: "pears" }),
  ]);
  const names = async (query: string): Promise<string[]> =>
    searchTools(await catalog.snapshot(), { query, view: VIEW, limit: 5 }).hits.map((hit) => hit.name);
  expect(await names("apples")).toEqual(["x__old"]);
  provider.offerTools({ name: "new", description: "bananas" });
  expect([await names("apples"), await names("bananas"), await names("pears")]).toEqual([[], ["x__new"], ["y__pear"]]);
});

test("S18: searches 10,000 tools with a hostile query within the limits", async () => {
  const provider = new MemoryProvider({ id: "many" }).offerTools(
    ...Array.from({ length: 10_000 }, (_, at) => ({
      name: `tool_${at}_${(at * 31) % 977}`,
      description: `Does thing ${at} for customers with invoices number ${at % 100}.`,
    })),
  );
  const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
  const began = cpuMs();
  searchTools(snapshot, { query: "warm up", view: VIEW, limit: 5 });
  const built = cpuMs();
  for (let round = 0; round < 20; round += 1)
    searchTools(snapshot, { query: "customer invoices number 42", view: VIEW, limit: 5 });
  const asked = cpuMs();
  searchTools(snapshot, { query: "zzqxtool ".repeat(100_000), view: VIEW, limit: 5 });
  searchTools(snapshot, {
    query: Array.from({ length: 5000 }, (_, at) => `wrod${at}x`).join(" "),
    view: VIEW,
    limit: 5,
  });
  // The limits are ten times the duration on an idle machine of 2025.
  expect(built - began).toBeLessThan(5000);
  expect((asked - built) / 20).toBeLessThan(150);
  expect(cpuMs() - asked).toBeLessThan(3000);
});

test.each([
  ["getUserInfo", ["get", "user", "info", "getuserinfo"]],
  ["HTTPServer2", ["http", "server", "2", "httpserver2"]],
  ["read-file.now", ["read", "file", "now"]],
  ["Café", ["cafe"]],
])("splits `%s` into words", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("forms of one word have the same stem, and other words have different stems", () => {
  expect(new Set(["create", "creates", "created", "creating", "creation"].map(stem))).toEqual(new Set(["creat"]));
  expect(new Set(["query", "queries"].map(stem))).toEqual(new Set(["query"]));
  expect(["status", "this", "news", "bus"].map(stem).filter((word) => word.length < 3)).toEqual([]);
});

test("keeps the words of a query that consists of stop words", () => {
  const texts = (query: string): string[] => queryWords(query).map((word) => word.text);
  expect(texts("what is this")).toEqual(["what", "is", "this"]);
  expect(texts("send an email")).toEqual(["send", "email"]);
});
