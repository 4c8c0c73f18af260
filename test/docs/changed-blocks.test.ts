import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { changedFiles, MAX_PAGES, pagesFor, SUBJECTS, subjectsOf } from "./changed-pages.ts";
import { GUIDE, testBlocks } from "./page-blocks.ts";
import { ROOT } from "./snippets.ts";

testBlocks(pagesFor(changedFiles(), GUIDE));

describe("selection of pages", () => {
  test.each([
    ["docs/guide/develop/scripts.md", "docs/guide/develop/scripts.md"],
    ["packages/toolyard/src/providers/scripts/manifest.ts", "docs/guide/develop/scripts.md"],
    ["packages/gnn/src/language/parse.ts", "docs/guide/sources/gnn-programs.md"],
    ["packages/library/src/store/open-store.ts", "docs/guide/sources/documents.md"],
    ["packages/toolyard/src/extras/list.ts", "docs/guide/start/extras.md"],
  ])("a change of %s runs %s", (file, page) => expect(pagesFor([file], GUIDE)).toContain(page));

  test.each(["docs/decisions/README.md", "test/docs/snippets.ts", "packages/toolyard/src/providers/scripts", "x"])(
    "a change of %s runs no page",
    (file) => expect(pagesFor([file], GUIDE)).toEqual([]),
  );

  test("pages whose own text changed come before pages whose subject changed, up to a limit", () => {
    const changed = Object.values(SUBJECTS).flatMap((subjects) => subjects.map((subject) => `${subject}x.ts`));
    const last = GUIDE.at(-1)!;
    const pages = pagesFor([...changed, last], GUIDE);
    expect(pages).toHaveLength(MAX_PAGES);
    expect(pages[0]).toBe(last);
  });

  test.each(GUIDE)("the page %s has a subject", (page) => expect(subjectsOf(page)).not.toEqual([]));

  test("each subject is an existing path, and each entry names a page", () => {
    const missing = Object.values(SUBJECTS).flatMap((subjects) =>
      subjects.filter((one) => !existsSync(join(ROOT, one))),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(SUBJECTS).filter((start) => !GUIDE.some((page) => page.startsWith(start)))).toEqual([]);
  });
});
