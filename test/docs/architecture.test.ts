import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const TEXT = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");

/** The folders of `src/` in the table of tiers. */
const TIERS = [...TEXT.matchAll(/^\| +\d+ \| `(?<folder>[a-z]+)\/`/gm)].map(({ groups }) => groups!["folder"]!);

/** Expands braces: `a/{b,c}/` is two paths. */
function spread(path: string): string[] {
  const braces = /\{(?<names>[^}]+)\}/.exec(path);
  if (!braces) return [path];
  return braces.groups!["names"]!.split(",").flatMap((name) => spread(path.replace(braces[0], name)));
}

/** Files (`a/b.ts`) and folders (`a/`) that the page names, in code spans and in the drawing of a call. */
function namedPaths(): string[] {
  const marked = [...TEXT.matchAll(/`(?<path>[\w.{},-]+\/[\w./{},-]*)`/g)].map(({ groups }) => groups!["path"]!);
  const drawn = [...TEXT.matchAll(/(?<path>[a-z-]+\/[\w/-]+\.ts)/g)].map(({ groups }) => groups!["path"]!);
  return [...new Set([...marked, ...drawn].flatMap(spread))].filter((path) => /\/$|\.[a-z]+$/.test(path));
}

/** Files and folders of the packages; names of folders end in a slash. */
const PARTS = ["toolyard/src", "toolyard/servers", "gnn/src", "library/src"].flatMap((part) =>
  readdirSync(join(ROOT, "packages", part), { withFileTypes: true, recursive: true }).map((entry) => {
    const path = relative(join(ROOT, "packages"), join(entry.parentPath, entry.name)).replaceAll(sep, "/");
    return entry.isDirectory() ? `${path}/` : path;
  }),
);

/** Returns true if a path exists. Rows of a table name files relative to their folder. */
function isThere(path: string): boolean {
  return (
    existsSync(join(ROOT, path)) ||
    existsSync(join(ROOT, "packages", "toolyard", path)) ||
    PARTS.some((one) => one.endsWith(`/${path}`))
  );
}

test("every path that ARCHITECTURE.md names exists", () => {
  const paths = namedPaths();
  expect(paths).toEqual(expect.arrayContaining(["core/calls/call.ts", "pipeline/record.ts", "src/hub/features.ts"]));
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test("the table of tiers in ARCHITECTURE.md contains every folder of src", () => {
  const folders = readdirSync(join(ROOT, "packages", "toolyard", "src"), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(folders.map(({ name }) => name).filter((name) => !TIERS.includes(name))).toEqual([]);
});

test("a path that does not exist is detected", () => {
  expect(isThere("core/never-was.ts")).toBe(false);
});
