import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DIAGNOSTICS } from "../src/language/diagnostics.ts";
import { parseGnn } from "../src/language/parse.ts";
import { drawGnn } from "../src/pictures/draw.ts";
import { readPage, readSnippets, SnippetFolder } from "../../../test/docs/snippets.ts";

const PAGE = readPage("docs/guide/sources/gnn.md");
const SNIPPETS = readSnippets(PAGE);

test("every code block of the guide's page runs and prints the expected output", async () => {
  await using folder = await SnippetFolder.create();
  await folder.run(SNIPPETS.filter(({ language }) => ["gnn", "sh", "text"].includes(language)));
  expect(SNIPPETS.filter(({ language }) => language === "sh").length).toBeGreaterThanOrEqual(3);
});

test("the guide's page starts with a model and its current picture", async () => {
  const [first] = SNIPPETS;
  expect(first!.language).toBe("gnn");
  const name = /^!\[[^\]]+\]\(([\w.-]+)\)$/m.exec(PAGE)?.[1];
  expect(PAGE.indexOf(`(${name})`)).toBeLessThan(PAGE.indexOf("```sh"));
  const picture = readFileSync(new URL(`../../../docs/guide/sources/${name}`, import.meta.url), "utf8");
  expect(await drawGnn(parseGnn(first!.text).file)).toBe(picture.replaceAll("\r\n", "\n"));
});

test("the guide's page lists every diagnostic code", () => {
  for (const code of Object.keys(DIAGNOSTICS)) expect(PAGE).toMatch(new RegExp(String.raw`\b${code}\b`));
});
