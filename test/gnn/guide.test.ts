import { expect, test } from "vitest";
import { DIAGNOSTICS } from "../../servers/gnn/language/diagnostics.ts";
import { exportGnn } from "../../servers/gnn/exports/formats.ts";
import { parseGnn } from "../../servers/gnn/language/parse.ts";
import { readPage, readSnippets, SnippetFolder } from "../docs/snippets.ts";

const PAGE = readPage("docs/guide/gnn.md");
const SNIPPETS = readSnippets(PAGE);

test("every block of the guide's page runs, and what it says comes out", async () => {
  await using folder = await SnippetFolder.create();
  await folder.run(SNIPPETS.filter(({ language }) => ["gnn", "sh", "text"].includes(language)));
  expect(SNIPPETS.filter(({ language }) => language === "sh").length).toBeGreaterThanOrEqual(3);
});

test("the picture of the guide's page is that of its model", () => {
  const model = SNIPPETS.find(({ language }) => language === "gnn")!.text;
  const picture = SNIPPETS.find(({ language }) => language === "mermaid")!.text;
  expect(exportGnn(parseGnn(model).file, "mermaid")).toBe(picture);
});

test("the guide's page names every code", () => {
  for (const code of Object.keys(DIAGNOSTICS)) expect(PAGE).toMatch(new RegExp(String.raw`\b${code}\b`));
});
