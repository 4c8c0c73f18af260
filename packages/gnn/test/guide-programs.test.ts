import { expect, test } from "vitest";
import { RENDER_TARGETS } from "../src/render/targets.ts";
import { readPage, readSnippets, SnippetFolder } from "../../../test/docs/snippets.ts";

const PAGE = readPage("docs/guide/sources/gnn-programs.md");

test("every code block of the page on programs runs and prints the expected output", async () => {
  await using folder = await SnippetFolder.create();
  const snippets = readSnippets(PAGE);
  await folder.run(snippets);
  expect(snippets).toHaveLength(3);
});

test("the page on programs names every target", () => {
  for (const target of Object.keys(RENDER_TARGETS)) expect(PAGE).toContain(`| \`${target}\` `);
});
