import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../../test/fixtures/cpu-time.ts";
import { NameBook } from "./name-book.ts";
import { carriedBy } from "./name-index.ts";
import { nameRules, type NameParts, type Surface } from "./names.ts";
import { Spellings } from "./spelling.ts";

const SURFACES: readonly Surface[] = ["mcp", "binding", "model"];

function named(namespace: string, name: string, extra: Partial<NameParts> & { id?: string } = {}): NameParts {
  const { id = namespace || "local", ...rest } = extra;
  return { source: { id, namespace }, name, ...rest };
}

/** Returns a book of records as servers list them. */
function bookOf(records: readonly NameParts[], separator = "__", maxLength = 128): NameBook<NameParts> {
  const naming = { separator, maxLength };
  const sources = records.map(({ source }) => source);
  const spellings = new Spellings(sources, { naming, carried: carriedBy(records) });
  return new NameBook(records, { naming, namedOf: (record) => record, policy: { spellings, mayHave: () => true } });
}

test("C3: returns the name of a tool in the form of each surface", () => {
  const tool = named("gh", "search");
  const book = bookOf([tool]);
  expect(SURFACES.map((surface) => book.nameOf(tool, surface))).toEqual(["gh__search", "gh::search", "gh__search"]);
});

test("C3: keeps the dotted name of a module, and gives models a name without the dot", () => {
  const tool = named("modules", "export.to_json", { qualified: true });
  const book = bookOf([tool]);
  expect(SURFACES.map((surface) => book.nameOf(tool, surface))).toEqual([
    "export.to_json",
    "export.to_json",
    "export_to_json",
  ]);
});

test("C3: an empty namespace adds no prefix, and the separator can be configured", () => {
  const bare = named("", "echo");
  const dotted = named("gh", "search");
  const book = bookOf([bare, dotted], ".");
  expect([bare, dotted].map((tool) => book.nameOf(tool))).toEqual(["echo", "gh.search"]);
});

test.each([
  "search",
  "gh::search",
  "gh__search",
  "gh.search",
  "gh/search",
  "mcp__gh__search",
  "mcp__hub__gh__search",
  "mcp__my__hub__gh__search",
])("C3: resolves `%s`", (spelling) => {
  const tool = named("gh", "search");
  expect(bookOf([tool, named("gl", "merge")]).candidates(spelling)).toEqual([tool]);
});

test.each([
  "export.to_json",
  "export::to_json",
  "export__to_json",
  "export/to_json",
  "export_to_json",
  "to_json",
  "mcp__hub__export_to_json",
])("C3: resolves the tool of a module as `%s`", (spelling) => {
  const tool = named("modules", "export.to_json", { qualified: true });
  expect(bookOf([tool]).candidates(spelling)).toEqual([tool]);
});

test.each(["", "gl__search", "gh__", "gh:search", "mcp__", "GH__search"])("`%s` resolves to nothing", (spelling) => {
  expect(bookOf([named("gh", "search")]).candidates(spelling)).toEqual([]);
});

test("C3: a name of two sources is ambiguous and gives both records", () => {
  const records = [named("gh", "search"), named("gl", "search")];
  expect(bookOf(records).candidates("search")).toEqual(records);
});

test("C3: splits at the first separator after the namespace", () => {
  const tool = named("a", "b::c");
  expect(bookOf([tool]).candidates("a::b::c")).toEqual([tool]);
});

test("C3: reads the longest known namespace", () => {
  const long = named("a.b", "c");
  const short = named("a", "b/c");
  expect(bookOf([short, long]).candidates("a.b/c")).toEqual([long]);
});

test("C3: tries a shorter namespace if the longest has no such tool", () => {
  const tool = named("a", "b.c");
  expect(bookOf([tool, named("a.b", "other")]).candidates("a/b.c")).toEqual([tool]);
});

test("C28: the first record gets the name, and the second one is shown with its namespace", () => {
  const first = named("", "search", { id: "tools" });
  const second = named("", "search", { id: "more" });
  const book = bookOf([first, second]);
  expect([book.nameOf(first), book.nameOf(second), [...book.renamed.keys()]]).toEqual([
    "search",
    "more__search",
    [second],
  ]);
  expect(book.renameReason(second)).toEqual({ type: "shadowed", owner: first });
});

test("S15: finds a renamed tool by its alias and by its original name", () => {
  const tool = named("gh", "search_issues_and_pull_requests", { alias: "find" });
  const book = bookOf([tool]);
  expect(book.nameOf(tool)).toBe("gh__find");
  expect(book.candidates("gh__search_issues_and_pull_requests")).toEqual([tool]);
});

test("S15: distinguishes two tools with exchanged names", () => {
  const first = named("gh", "a", { alias: "b" });
  const second = named("gh", "b", { alias: "a" });
  const book = bookOf([first, second]);
  expect([book.candidates("gh.a"), book.candidates("gh::b"), book.candidates("a")]).toEqual([
    [second],
    [first],
    [second],
  ]);
});

test("finds a record by a hidden name, unless another record shows that name", () => {
  const tool = named("", "meta.ping", { hiddenNames: ["ping", "echo"] });
  const echo = named("", "echo", { id: "other" });
  const book = bookOf([tool, echo]);
  expect([book.candidates("ping"), book.candidates("echo")]).toEqual([[tool], [echo]]);
});

test("replaces characters that MCP does not allow and adds a digest", () => {
  const slash = named("gh", "a/b");
  const space = named("gh", "a b");
  const book = bookOf([slash, space]);
  expect(book.nameOf(slash)).toMatch(/^gh__a_b_[0-9a-f]{8}$/);
  expect(book.nameOf(space)).not.toBe(book.nameOf(slash));
  expect(book.candidates("gh::a/b")).toEqual([slash]);
});

test("shortens a name over the limit of its surface and appends a digest", () => {
  const long = named("gh", "x".repeat(100));
  const longer = named("gh", "y".repeat(300));
  const book = bookOf([long, longer]);
  expect(book.nameOf(long)).toHaveLength(104);
  expect(book.nameOf(long, "model")).toMatch(/^gh__x{51}_[0-9a-f]{8}$/);
  expect(book.nameOf(longer)).toMatch(/^gh__y{115}_[0-9a-f]{8}$/);
});

test("the function name for a model never starts with a digit", () => {
  const tool = named("", "7zip");
  expect(bookOf([tool]).nameOf(tool, "model")).toBe("_7zip");
});

test.each([
  ["größe prüfen", "groesse_pruefen"],
  ["Übergrößenträger", "Uebergroessentraeger"],
  ["STRAẞE", "STRASSE"],
  ["gro\u0308ße", "groesse"],
  ["café à la crème", "cafe_a_la_creme"],
  ["façade/ñandú", "facade_nandu"],
  ["smørrebrød på fad", "smorrebrod_pa_fad"],
  ["zażółć gęślą", "zazolc_gesla"],
  ["Œuvre_æsir", "Oeuvre_aesir"],
  ["ďábelské ódy", "dabelske_ody"],
  ["поиск файлов", "poisk_faylov"],
  ["Щётка объём", "Shchetka_obem"],
  ["їжак", "yizhak"],
  ["αναζήτηση αρχείου", "anazitisi_archeioy"],
  ["ｓｅａｒｃｈ", "search"],
  ["検索 größe", "___groesse"],
  ["🔍find", "__find"],
  ["x\u0302y", "xy"],
])("replaces `%s` by the readable `%s` with a digest", (name, readable) => {
  const tool = named("gh", name);
  const book = bookOf([tool]);
  expect(book.nameOf(tool)).toMatch(new RegExp(`^gh__${readable}_[0-9a-f]{8}$`));
  expect(book.nameOf(tool, "model")).toBe(book.nameOf(tool));
  expect(book.nameOf(tool, "binding")).toBe(`gh::${name}`);
  for (const spelling of [name, `gh__${name}`, `gh::${name}`, book.nameOf(tool)])
    expect(book.candidates(spelling)).toEqual([tool]);
});

test.each(["groesse_pruefen", "a.b-c_1", "X", "gr__e", "7zip"])("keeps the valid name `%s`", (name) => {
  const tool = named("", name);
  expect(bookOf([tool, named("", "größe")]).nameOf(tool)).toBe(name);
});

test.each(["…", "．", "／", "：", "½", "℀", "€", "＿", "ـ"])("replaces `%s` by underscores only", (sign) => {
  const tool = named("", `a${sign}b`);
  expect(bookOf([tool]).nameOf(tool)).toMatch(/^a_b_[0-9a-f]{8}$/);
});

test("gives a namespace the same readable form with and without a name after it", () => {
  const tools = [named("büro", "größe"), named("büro", "e\u0301tat"), named("ларёк", "open")];
  const book = bookOf(tools);
  const names = tools.map((tool) => book.nameOf(tool));
  expect(names).toEqual([
    expect.stringMatching(/^buero__groesse_[0-9a-f]{8}$/),
    expect.stringMatching(/^buero__etat_[0-9a-f]{8}$/),
    expect.stringMatching(/^larek__open_[0-9a-f]{8}$/),
  ]);
  expect(names.map((name) => book.candidates(name))).toEqual(tools.map((tool) => [tool]));
  expect(book.candidates("büro__größe")).toEqual([tools[0]]);
});

test("a transliterated name never takes the prefix that another source has in its configuration", () => {
  const [own, other] = [named("buero", "größe"), named("büro", "größe")];
  const book = bookOf([other, own]);
  expect(book.nameOf(own)).toMatch(/^buero__groesse_[0-9a-f]{8}$/);
  expect(book.nameOf(other)).not.toMatch(/^buero__/);
  expect(book.candidates("buero__größe")).toEqual([own]);
  expect([own, other].map((tool) => book.candidates(book.nameOf(tool)))).toEqual([[own], [other]]);
});

test("two names that are equal after the transliteration have different digests", () => {
  const tools = ["größe", "grösse", "groesse", "gro\u0308ße"].map((name) => named("gh", name));
  const book = bookOf(tools);
  expect(new Set(tools.map((tool) => book.nameOf(tool))).size).toBe(tools.length);
  for (const tool of tools) expect(book.candidates(`gh__${tool.name}`)).toEqual([tool]);
});

const piece = fc.constantFrom(
  "a",
  "b",
  "_",
  "__",
  ".",
  "::",
  "/",
  ":",
  "mcp__",
  "é",
  "ö",
  "oe",
  "ж",
  "\u0308",
  " ",
  "\ud800",
  "7",
  "-",
  "x".repeat(70),
);
const word = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(""));
const records = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom("a", "b", "a__b", "a.b", "mcp"),
    namespace: word,
    name: word,
    alias: fc.option(word, { nil: undefined }),
    qualified: fc.boolean(),
  }),
  { maxLength: 12, selector: ({ id, name }) => JSON.stringify([id, name]) },
);
const separators = fc.constantFrom("__", ".", "-", "_");
const lengths = fc.constantFrom(24, 64, 128);

function toNamed(
  rows: readonly { id: string; namespace: string; name: string; alias: string | undefined; qualified: boolean }[],
): NameParts[] {
  return rows.map(({ id, namespace, name, alias, qualified }) => ({
    source: { id, namespace },
    name,
    qualified,
    ...(alias === undefined ? {} : { alias }),
  }));
}

test("C3: the rendered name of a record resolves to that record, for any names", () => {
  fc.assert(
    fc.property(records, separators, lengths, (rows, separator, maxLength) => {
      const list = toNamed(rows);
      const book = bookOf(list, separator, maxLength);
      for (const record of list) {
        for (const surface of SURFACES) expect(book.candidates(book.nameOf(record, surface))).toEqual([record]);
      }
    }),
    { numRuns: 400 },
  );
});

test("C3: no two records share a name on a surface, and each name follows the surface's rules, for any names", () => {
  const allowed = { mcp: /^[A-Za-z0-9_.-]{1,128}$/, binding: /^[^]{1,1024}$/, model: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/ };
  fc.assert(
    fc.property(records, separators, lengths, (rows, separator, maxLength) => {
      const list = toNamed(rows);
      const book = bookOf(list, separator, maxLength);
      for (const surface of SURFACES) {
        const names = list.map((record) => book.nameOf(record, surface));
        expect(new Set(names).size).toBe(list.length);
        for (const name of names) expect(name).toMatch(allowed[surface]);
        for (const name of names)
          expect(name.length).toBeLessThanOrEqual(nameRules(surface, { separator, maxLength }).maxLength);
      }
    }),
    { numRuns: 400 },
  );
});

test("keeps a name within the limit; a longer name is shortened and is also found by its full spelling", () => {
  const long = named("server", "a_tool_with_a_name_that_goes_on_and_on_until_no_model_takes_it_any_more");
  const book = bookOf([named("server", "short"), long], "__", 64);
  expect(book.nameOf(named("server", "short"), "mcp")).toBe("server__short");
  const shown = book.nameOf(long, "mcp");
  expect(shown).toMatch(/^server__a_tool_with_a_name_that_goes_on_.*_[0-9a-z]+$/);
  expect(shown).toHaveLength(64);
  expect(book.candidates(shown)).toEqual([long]);
  expect(book.candidates(`server__${long.name}`)).toEqual([long]);
  expect(book.candidates(`mcp__toolyard__${shown}`)).toEqual([long]);
});

test("C3: names do not depend on earlier lookups", () => {
  fc.assert(
    fc.property(records, (rows) => {
      const list = toNamed(rows);
      const [fresh, used] = [bookOf(list), bookOf(list)];
      for (const record of list) used.nameOf(record, "model");
      expect(list.map((record) => fresh.nameOf(record, "binding"))).toEqual(
        list.map((record) => used.nameOf(record, "binding")),
      );
    }),
  );
});

test("S18: reads a long name full of separators quickly", () => {
  const book = bookOf(Array.from({ length: 2000 }, (_, at) => named(`ns${at}`, "t")));
  const began = cpuMs();
  for (let round = 0; round < 100; round += 1) book.candidates(`mcp__${"__".repeat(500)}`);
  book.candidates("_".repeat(1_000_000));
  expect(cpuMs() - began).toBeLessThan(1000);
});
