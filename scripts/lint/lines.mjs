// Lines of at most 120 characters, in every tracked text file. `node scripts/lint/lines.mjs` checks all files; the
// linter reports the same for JavaScript and TypeScript during editing. Exceptions: table rows, lines that are long
// because of a link, words too long for any line (digests, regular expressions), formats with unbreakable texts (JSON),
// and output of programs, including that on pages.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const MAX_CHARS = 120;
/** Matches a word that is too long to share a line with other words. */
const LONG_WORD = /\S{90,}/;
const LINK = /https?:\/\/\S+|\]\([^)]*\)/g;
/** Matches a line that consists of a regular expression and is not a comment. */
const PATTERN = /^\s*\/[^*/].*\/[a-z]*[,;]?$/;
/** Matches the output of a program on a page. */
const OUTPUT = /^```text\n[^]*?^```$/gm;
const TABLE_ROW = /^\s*(?:(?:\/\/|#|\*)\s*)?\|.*\|\s*$/;
const NOT_BREAKABLE = /\.(?:json|jsonl|lock|sum|svg|csv|tsv|snap)$/;
/** Generated files and third-party texts, which are not wrapped. */
const GENERATED = ["docs/reference/", "bench/results.md", "test/RESULTS.md", "test/fixtures/web-search/pages.ts"];
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const isLeftOut = (file) => NOT_BREAKABLE.test(file) || GENERATED.some((start) => file.startsWith(start));

export function isTooLong(line) {
  if (line.length <= MAX_CHARS) return false;
  if (TABLE_ROW.test(line) || LONG_WORD.test(line) || PATTERN.test(line)) return false;
  return line.replaceAll(LINK, "").length > MAX_CHARS;
}

export const linesRule = {
  create(context) {
    return {
      Program(node) {
        const file = relative(root, context.filename);
        if (isLeftOut(file)) return;
        context.sourceCode.text.split("\n").forEach((text, index) => {
          const line = text.replace(/\r$/, "");
          if (!isTooLong(line)) return;
          const loc = { start: { line: index + 1, column: MAX_CHARS }, end: { line: index + 1, column: line.length } };
          context.report({ node, loc, message: `A line of ${line.length} characters; ${MAX_CHARS} are allowed.` });
        });
      },
    };
  },
};

function check() {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  const files = tracked.filter((file) => file !== "" && !isLeftOut(file));
  const found = files.flatMap((file) => longLinesOf(file));
  for (const { file, line, length } of found) console.log(`${file}:${line}: ${length} characters`);
  console.log(`${found.length} lines over ${MAX_CHARS} characters`);
  return found.length === 0;
}

function longLinesOf(file) {
  let text;
  try {
    text = readFileSync(join(root, file), "utf8");
  } catch (error) {
    // Deleted but still tracked files, and broken links, have no lines.
    if (error.code === "ENOENT" || error.code === "EISDIR") return [];
    throw error;
  }
  if (text.includes("\0")) return [];
  const shown = file.endsWith(".md") ? text.replaceAll(OUTPUT, (block) => block.replaceAll(/[^\n]/g, "")) : text;
  return shown
    .split(/\r?\n/)
    .flatMap((line, index) => (isTooLong(line) ? [{ file, line: index + 1, length: line.length }] : []));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(check() ? 0 : 1);
