import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { CLIENTS, clientFile } from "../../packages/toolyard/src/config/connect/clients.ts";
import { loadHubConfig } from "../../packages/toolyard/src/hub/open-hub.ts";
import { parseManifest } from "../../packages/toolyard/src/providers/scripts/manifest.ts";
import { pagesIn } from "./page-blocks.ts";
import { readPage, readSnippets, ROOT } from "./snippets.ts";

/** Loads a configuration as the hub would, with a value for every variable that it names. */
async function load(text: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-docs-"));
  const file = join(folder, "toolyard.toml");
  const variables: Record<string, string> = {};
  for (const [, name] of text.matchAll(/\$\{(?:env:)?(\w+)/g)) variables[name!] = "value";
  try {
    writeFileSync(file, text);
    return await loadHubConfig({ files: [file], variables, flags: {} });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...pagesIn("docs")];

describe("client pages", () => {
  const home = { HOME: "~", USERPROFILE: "%USERPROFILE%", APPDATA: "%APPDATA%" };

  test.each(CLIENTS.filter(({ id }) => id !== "vscode-insiders").map((client) => ({ id: client.id, client })))(
    "$id: its page names the client's configuration file on each platform, and the table in it",
    ({ id, client }) => {
      const page = readPage(`docs/guide/clients/${id}.md`);
      for (const platform of ["linux", "darwin", "win32"] as const)
        expect(page).toContain(`\`${clientFile(client, { variables: home, cwd: "/", platform })}\``);
      expect(page).toContain(client.table);
      expect(readPage("docs/guide/clients/README.md")).toContain(`(${id}.md)`);
    },
  );
});

describe("configurations in pages", () => {
  const blocks = PAGES.flatMap((page) =>
    readSnippets(readPage(page))
      .filter(({ language }) => language === "toml")
      .map((snippet) => ({ where: `${page}:${snippet.line}`, snippet })),
  );

  test.each(blocks)("$where is accepted", async ({ snippet }) => {
    // A page may show a mistake together with its error message.
    if (snippet.text.includes("descripton"))
      expect(parseManifest(snippet.text, { folderName: "tool", allowDirnameAsName: false }).manifest).toBeUndefined();
    else if (snippet.file?.endsWith("tool.toml"))
      expect(parseManifest(snippet.text, { folderName: "tool", allowDirnameAsName: false })).toMatchObject({
        faults: [],
        remarks: [],
      });
    else await expect(load(snippet.text)).resolves.toMatchObject({ warnings: [] });
  });

  test("a block with an unknown key is refused", async () => {
    await expect(load("[server]\nprot = 1\n")).rejects.toThrow("did you mean `port`?");
  });
});

describe("tests that pages name", () => {
  const named = Array.from(
    readPage("docs/explanation/complaints.md").matchAll(/^- `([^`]+)`: (.+)$/gm),
    ([, file, title]) => ({ file: file!, title: title! }),
  );

  test.each(named)("$file contains: $title", ({ file, title }) => {
    expect(readPage(file)).toContain(title);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 17, 19])(
    "complaint %i names at least one test",
    (number) => {
      const [, section = ""] = readPage("docs/explanation/complaints.md").split(new RegExp(`^## ${number}\\. `, "m"));
      expect(section.split("\n## ")[0]).toMatch(/^- `.+\.test\.ts`: /m);
    },
  );
});

describe("links between pages", () => {
  const anchors = new Map<string, ReadonlySet<string>>();

  test.each(PAGES)("%s: the target of each link exists", (page) => {
    const broken = linksOf(readPage(page)).filter((link) => !leadsSomewhere(page, link, anchors));
    expect(broken).toEqual([]);
  });
});

function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), (match) => match[1]!).filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(page: string, link: string, anchors: Map<string, ReadonlySet<string>>): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path));
  try {
    if (anchor === undefined)
      return path.endsWith("/") ? readdirSync(join(ROOT, target)).length > 0 : readPage(target) !== "";
    const known =
      anchors.get(target) ??
      new Set(Array.from(readPage(target).matchAll(/^#{1,6} (.*)$/gm), (match) => slugOf(match[1]!)));
    anchors.set(target, known);
    return known.has(anchor);
  } catch {
    return false;
  }
}

/** Returns the anchor of a heading as common Markdown viewers form it. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}
