import { expect, test } from "vitest";
import { MemoryProvider } from "../../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { Catalog } from "../catalog.ts";
import { resolveCatalog } from "../options.ts";
import { searchTools } from "./search-tools.ts";
import { proseSymbols, symbolWords } from "./symbol-words.ts";
import { wordsOf } from "./words.ts";

const VIEW = { mode: "normal", principal: LOCAL_PRINCIPAL } as const;

async function search(keywords: Readonly<Record<string, readonly string[]>>, query: string) {
  const tools = Object.entries(keywords).map(([name, words]) => ({ name, description: "Does it.", keywords: words }));
  const catalog = new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "local", namespace: "" }).offerTools(...tools),
  ]);
  const snapshot = await catalog.snapshot();
  catalog.close();
  return searchTools(snapshot, { query, view: VIEW, limit: 5 }).hits;
}

test.each([
  ["€", ["€"]],
  ["🎉", ["🎉"]],
  ["❤️", ["❤"]],
  ["👍🏽", ["👍"]],
  ["🇩🇪", ["🇩🇪"]],
  ["=>", ["=>"]],
  ["?? and &&", ["??", "&&"]],
  ["∑", ["∑"]],
  ["C++", ["c++"]],
  ["in c#, please", ["c#"]],
  ["Notepad++ or g++?", ["notepad++", "g++"]],
  ["20€ and £5", ["€", "£"]],
  ["party🎉", ["🎉"]],
])("finds the symbols in `%s`", (text, words) => {
  expect(symbolWords(text)).toEqual(words);
});

test.each([
  "read a file",
  "snake_case and kebab-case, C and D",
  "what is this?",
  "(a note), \"quoted\" and 'single'",
  "größe 検索 Ἀθήνη",
  "https://example.com/a?b=c",
  "© 2026 Acme® Tool™",
  "issue#12 a+b",
  "",
])("finds no symbol in `%s`", (text) => {
  expect(symbolWords(text)).toEqual([]);
});

test.each([
  ["€", "euro", "pound", ["€"], ["£"]],
  ["🎉", "party", "wake", ["🎉"], ["⚰️"]],
  ["❤", "love", "hate", ["❤️"], ["💔"]],
  ["c++", "cpp", "csharp", ["c++"], ["c#"]],
  ["c#", "csharp", "cpp", ["c#"], ["c++"]],
  ["format C++ code", "cpp", "c", ["c++"], ["c"]],
  ["∑", "sum", "root", ["∑"], ["√"]],
  ["=>", "arrow", "equal", ["=>"], ["=="]],
  ["100 €", "euro", "dollar", ["€"], ["$"]],
  ["🇫🇷", "french", "german", ["🇫🇷"], ["🇩🇪"]],
])("`%s` ranks %s before %s", async (query, first, other, wanted, unwanted) => {
  const hits = await search({ [`a_${other}`]: unwanted, [first]: wanted, [`z_${other}`]: unwanted }, query);
  expect(hits[0]?.name).toBe(first);
  expect(hits.slice(1).every(({ score }) => score < hits[0]!.score)).toBe(true);
});

test("a symbol that no tool has as keyword changes no score", async () => {
  const keywords = { send_mail: ["mail"], read_file: ["disk"] };
  expect(await search(keywords, "send 🎉 mail => c++")).toEqual(await search(keywords, "send mail c"));
});

test("does not change the words of a text with symbols", () => {
  expect(wordsOf("C++ 🎉 20€ => done")).toEqual(["c", "20", "done"]);
});

test("reads a long run of symbols quickly and within the limit", () => {
  expect(symbolWords("+".repeat(100_000))).toEqual(["+".repeat(48)]);
  expect(symbolWords("€ ".repeat(50_000))).toEqual(["€"]);
  expect(symbolWords(Array.from({ length: 500 }, (_, at) => `c${at}++`).join(" ")).length).toBeLessThanOrEqual(32);
});

async function searchTexts(tools: readonly { readonly name: string; readonly description: string }[], query: string) {
  const catalog = new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "local", namespace: "" }).offerTools(...tools),
  ]);
  const snapshot = await catalog.snapshot();
  catalog.close();
  return searchTools(snapshot, { query, view: VIEW, limit: 5 }).hits;
}

test.each([
  ["€", "Converts amounts to €.", "Converts amounts to £."],
  ["c++", "Formats C++ code.", "Formats C# code."],
  ["C#", "Formats C# code.", "Formats C++ code."],
  ["f#", "Compiles F# (functional).", "Compiles F (fortran)."],
  ["🎉", "Plans a party 🎉🎂", "Plans a wake ⚰️"],
  ["❤", "Sends ❤️", "Sends 💔"],
  ["🇫🇷", "News of 🇫🇷", "News of 🇩🇪"],
  ["what costs 20¥", "Prices in ¥", "Prices in ₹"],
])("`%s` ranks a tool with the description `%s` before `%s`", async (query, description, other) => {
  const tools = [
    { name: "a_tool", description: other },
    { name: "m_tool", description },
    { name: "z_tool", description: other },
  ];
  const hits = await searchTexts(tools, query);
  expect(hits[0]?.name).toBe("m_tool");
  expect(hits.slice(1).every(({ score }) => score < hits[0]!.score)).toBe(true);
});

test.each(["c++", "c#", "€", "🎉"])("`%s` in a name ranks before the same symbol in a description", async (symbol) => {
  const tools = [
    { name: "a_tool", description: `Works with ${symbol} too.` },
    { name: `run_${symbol}`, description: "Works with it." },
    { name: "z_tool", description: "Works." },
  ];
  const hits = await searchTexts(tools, `work with ${symbol}`);
  expect(hits[0]?.name).toContain("run");
});

test.each([
  ["a - b — c … **bold** `code` => [x](y)", []],
  ["issue#12, a+b, © Acme®", []],
  ["C++ and c++ for 5€, 🎉", ["c++", "€", "🎉"]],
])("finds the symbols of the prose `%s`", (text, symbols) => {
  expect(proseSymbols(text)).toEqual(symbols);
});

test("a symbol in descriptions changes no score of a query without it", async () => {
  const plain = [
    { name: "send", description: "Send a mail" },
    { name: "read", description: "Read a mail" },
  ];
  const marked = plain.map((tool) => ({ ...tool, description: `${tool.description} 🎉` }));
  const scores = async (tools: typeof plain) =>
    (await searchTexts(tools, "send mail")).map(({ name, score }) => [name, score]);
  expect(await scores(marked)).toEqual(await scores(plain));
});
