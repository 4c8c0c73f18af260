import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommandIo } from "../src/command/command-io.ts";
import { bench, evaluateOn } from "../src/command/measure-commands.ts";
import { watch } from "../src/command/watch-command.ts";
import { readBeir } from "../src/measures/beir.ts";
import { ndcgAt10, recallAt10 } from "../src/measures/ndcg.ts";
import { openLibrary } from "../src/library.ts";
import { CLEAR_IDEAS } from "./books.ts";

let folder: string;
let told: { printed: string; said: string };
let ended: AbortController;
const path = (name: string): string => join(folder, name);
const write = (name: string, text: string): string => {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
  return path(name);
};

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-measures-")));
  told = { printed: "", said: "" };
  ended = new AbortController();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function io(locale = "C"): CommandIo {
  return {
    cwd: folder,
    env: { LC_ALL: locale, TOOLYARD_HOME: folder, LIBRARY_FILE: path("library.db") },
    signal: ended.signal,
    print: async (text) => void (told.printed += `${text}\n`),
    say: async (text) => void (told.said += `${text}\n`),
    paint: async (text) => void (told.printed += text),
    safe: (text) => text,
    mark: (word) => word,
    live: () => ({ end: () => {} }),
  };
}

function writeCollection(): void {
  const texts = ["The cat sleeps.", "A ship at sea.", "Horses run."];
  const corpus = texts.map((text, at) => JSON.stringify({ _id: `d${at}`, title: "", text }));
  write("beir/corpus.jsonl", corpus.join("\n"));
  const queries = ["sleeping cats", "ships", "unjudged"].map((text, at) => JSON.stringify({ _id: `q${at}`, text }));
  write("beir/queries.jsonl", queries.join("\n"));
  write("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t2\nq1\td0\t0\n");
}

describe("quality of a ranking", () => {
  const gains = new Map([
    ["a", 2],
    ["b", 1],
    ["c", 0],
  ]);

  test("rates the best order as 1 and a worse order lower; ignores a question without answers", () => {
    const judged = { text: "", gains };
    expect(ndcgAt10([judged], [["a", "b", "c"]])).toBe(1);
    expect(ndcgAt10([judged], [["c", "b", "a"]])).toBeCloseTo((1 / Math.log2(3) + 1) / (2 + 1 / Math.log2(3)), 10);
    expect(ndcgAt10([judged, { text: "", gains: new Map([["c", 0]]) }], [["a", "b"], []])).toBe(1);
    expect(recallAt10([judged], [["c", "b"]])).toBe(0.5);
    expect(recallAt10([], [])).toBe(0);
  });
});

describe("toolyard library eval", () => {
  test("prints how well the library answers the questions of a data set", async () => {
    writeCollection();
    const options = { beir: "beir", language: "en" };
    expect(await evaluateOn(options, io())).toBe(0);
    expect(told.printed).toMatch(
      /^3 documents, 2 questions\nwords alone +nDCG@10 1\.000, recall@10 1\.000\nwords and meaning /,
    );
    told.printed = "";
    await evaluateOn({ ...options, language: "fr", json: true }, io());
    const found = JSON.parse(told.printed) as object;
    expect(found).toMatchObject({ documents: 3, questions: 2, words: { ndcg: expect.any(Number) } });
    // The package's word vectors are English.
    expect(found).not.toHaveProperty("meaning");
  });

  test.each([
    ["a folder without judgements", () => rmSync(path("beir/qrels"), { recursive: true }), "it contains none of qrels"],
    ["a folder without texts", () => rmSync(path("beir/corpus.jsonl")), "ENOENT"],
    ["a text without an id", () => write("beir/corpus.jsonl", '{"text": "a"}'), "line 1 has no `_id`"],
    ["a line that is no JSON", () => write("beir/queries.jsonl", "{"), "line 1 is no JSON"],
    [
      "a judgement without a score",
      () => write("beir/qrels/test.tsv", "q\td\t1\nq0\td0"),
      "line 2 does not contain question",
    ],
  ])("refuses %s with the reason", async (_what, spoil, message) => {
    writeCollection();
    spoil();
    await expect(readBeir(path("beir"))).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining(message),
    });
  });

  test("refuses an unknown language", async () => {
    writeCollection();
    await expect(evaluateOn({ beir: "beir", language: "english!" }, io())).rejects.toThrow("--language must be");
  });
});

describe("toolyard library bench", () => {
  test("prints how long the library takes for sample questions, and reports an empty library", async () => {
    expect(await bench({}, io())).toBe(0);
    expect(told.said).toContain("The library is empty.");
    {
      await using library = await openLibrary({ file: path("library.db") });
      await library.add({ path: write("clear.md", CLEAR_IDEAS) });
    }
    await bench({}, io());
    expect(told.printed).toMatch(/^opened in [\d.]+ ms\n50 questions: the first [\d.]+ ms, .*\n\d+ MB resident\n$/);
    told.printed = "";
    await bench({}, io("fr_FR.UTF-8"));
    expect(told.printed).toContain("50 questions : la première");
  });
});

describe("toolyard library watch", () => {
  test("reads the files that are added to a folder until it is stopped, and prints their names", async () => {
    write("books/clear.md", CLEAR_IDEAS);
    write("books/broken.pdf", "no PDF");
    const watching = watch(["books"], {}, io());
    await expect.poll(() => told.printed).toContain("added      clear (2 passages)\n");
    await expect.poll(() => told.said).toMatch(/^failed .*broken\.pdf: .*It is not a PDF/mu);
    await expect.poll(() => told.said).toContain(`Watching ${path("books")}.`);
    write("books/later.md", CLEAR_IDEAS.replace("Nominalism", "Realism"));
    await expect.poll(() => told.printed).toContain("added      later (2 passages)\n");
    ended.abort();
    expect(await watching).toBe(0);
  });

  test("refuses a file, and a folder that does not exist", async () => {
    write("clear.md", CLEAR_IDEAS);
    await expect(watch(["clear.md"], {}, io())).rejects.toThrow("is a file, not a folder");
    await expect(watch(["none"], {}, io())).rejects.toThrow("none is not there");
  });
});
