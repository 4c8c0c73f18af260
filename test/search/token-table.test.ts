import { readFile, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { similarity } from "../../packages/toolyard/src/embeddings.ts";
import { Pieces } from "../../packages/toolyard/src/models/table/pieces.ts";
import { loadTokenTable, TokenTable } from "../../packages/toolyard/src/models/table/token-table.ts";

const FILE = new URL("../../packages/toolyard/src/models/table/token-vectors.bin", import.meta.url);

/** Builds a table of two dimensions whose rows point in these directions, with a scale of 1. */
function tableOf(rows: Readonly<Record<string, readonly [number, number]>>): Buffer {
  const words = Buffer.from(Object.keys(rows).join("\n"));
  const padded = Buffer.concat([words, Buffer.alloc((4 - (words.length % 4)) % 4, "\n")]);
  const head = Buffer.alloc(16);
  head.write("TYT1", "latin1");
  const count = Object.keys(rows).length;
  for (const [at, value] of [count, 2, padded.length].entries()) head.writeUInt32LE(value, 4 + 4 * at);
  const scales = Buffer.alloc(4 * count);
  for (let row = 0; row < count; row += 1) scales.writeFloatLE(1, 4 * row);
  return Buffer.concat([head, padded, scales, Buffer.from(Int8Array.from(Object.values(rows).flat()).buffer)]);
}

test("the vector of a text is the normalised sum of its words' rows", () => {
  const table = new TokenTable(tableOf({ east: [100, 0], north: [0, 100] }), "corners");
  expect([...table.embed("East")]).toEqual([1, 0]);
  expect([...table.embed("north, east!")].map((value) => value.toFixed(4))).toEqual(["0.7071", "0.7071"]);
});

test("the vector of a text of unknown words is zero, and similar to none", () => {
  const table = new TokenTable(tableOf({ east: [100, 0] }), "corners");
  expect([...table.embed("west")]).toEqual([0, 0]);
  expect(similarity(table.embed("west"), table.embed("east"))).toBe(0);
});

test("refuses a file of another format, and a truncated one", () => {
  const file = tableOf({ east: [100, 0] });
  expect(() => new TokenTable(Buffer.from("something else"), "x")).toThrow("This is not a table of token vectors");
  expect(() => new TokenTable(file.subarray(0, file.length - 1), "x")).toThrow("truncated");
  expect(() => new TokenTable(Buffer.alloc(0), "x")).toThrow("This is not a table of token vectors");
  expect(() => new TokenTable(file.subarray(0, 10), "x")).toThrow("This is not a table of token vectors");
});

test("refuses a file with words that do not match its rows, and one with scales that are not numbers", () => {
  const words = tableOf({ east: [100, 0], west: [0, 1] });
  words.write("\t", words.indexOf("\n"), "latin1");
  expect(() => new TokenTable(words, "x")).toThrow("damaged");
  const scales = tableOf({ east: [100, 0] });
  scales.writeFloatLE(NaN, 20);
  expect(() => new TokenTable(scales, "x")).toThrow("damaged");
});

test("reads only the beginning of a text of megabytes", () => {
  const table = new TokenTable(tableOf({ east: [100, 0], north: [0, 100] }), "corners");
  expect([...table.embed(`east${" ".repeat(5_000_000)}north`)]).toEqual([1, 0]);
});

test.each([
  ["deleteRows from HTTPServer", ["delete", "rows", "from", "http", "server"]],
  ["delete_rows", ["delete", "rows"]],
  ["Été à la mer", ["ete", "a", "la", "mer"]],
  ["httpserver", ["http", "##server"]],
  ["unknowable", []],
])("splits %j into %j, like the tokenizer that built the table", (text, pieces) => {
  const vocabulary = [..."delete rows row from http server ete a la mer".split(" "), ..."##s ##server".split(" ")];
  const lines = Buffer.from(vocabulary.join("\n"));
  expect(new Pieces(lines, vocabulary.length).ofText(text, 100).map((number) => vocabulary[number])).toEqual(pieces);
});

test("the shipped table has at most 4.5 MB, and is read only once", async () => {
  expect((await stat(FILE)).size).toBeLessThanOrEqual(4_500_000);
  expect(await loadTokenTable()).toBe(await loadTokenTable());
});

test.each([
  ["get rid of some stored records", "delete rows of a table", "create a table"],
  ["will it rain tomorrow", "weather forecast", "send an email"],
  ["supprimer un fichier", "delete a file", "list branches"],
  ["eine Datei löschen", "delete a file", "list branches"],
])("with the shipped table %j is more similar to %j than to %j", async (query, near, far) => {
  const table = new TokenTable(await readFile(FILE), "shipped");
  const like = (text: string): number => similarity(table.embed(query), table.embed(text));
  expect(like(near)).toBeGreaterThan(like(far) + 0.1);
});
