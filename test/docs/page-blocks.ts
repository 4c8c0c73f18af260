// The code blocks of the guide's pages, run as a reader would run them.
import { readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { expect, test } from "vitest";
import { readPage, readSnippets, ROOT, RUN_WITHIN_MS, SnippetFolder } from "./snippets.ts";

export function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => extname(name) === ".md")
    .map((name) => join(folder, name).replaceAll("\\", "/"));
}

export const GUIDE: readonly string[] = pagesIn("docs/guide").filter((page) => !page.endsWith("README.md"));

/** Sections that also run, in the same folder as the opening. The other sections need the network, a user or a key. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  "docs/guide/start/cli.md": ["A new tool", "Saving results"],
  "docs/guide/develop/library.md": ["Options of a call", "Requests to the network"],
  "docs/guide/sources/code.md": ["From a program"],
  "docs/guide/sources/documents-on-a-server.md": ["Export, import and backup"],
  "docs/guide/sources/gnn.md": ["Pictures", "On the command line", "In a program"],
};

export function testBlocks(pages: readonly string[]): void {
  test.each(pages)(
    "%s opens with an example that runs and prints what the page shows",
    async (page) => {
      const snippets = readSnippets(readPage(page));
      const opening = snippets.filter((snippet) => snippet.opening);
      expect(opening.some(({ language, file }) => file === undefined && (language === "sh" || language === "ts"))).toBe(
        true,
      );
      await using folder = await SnippetFolder.create();
      await folder.run(opening);
      for (const section of SECTIONS[page] ?? []) {
        const blocks = snippets.filter((snippet) => snippet.section === section);
        expect(blocks).not.toEqual([]);
        await folder.run(blocks);
      }
    },
    2 * RUN_WITHIN_MS,
  );
}
