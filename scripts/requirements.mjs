// `npm run requirements`: compares the titles of the tests with the list of rows in test/documents/rows.json. A title
// starts with its rows: `T10: a toml with a syntax error drops only that tool`. A covered row without a test, and an
// unknown id, are failures. `--list` prints every row with the number of its tests; a folder argument checks that
// project instead of this one.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root =
  process.argv.slice(2).find((word) => !word.startsWith("--")) ?? dirname(dirname(fileURLToPath(import.meta.url)));
const rows = JSON.parse(readFileSync(join(root, "test/documents/rows.json"), "utf8"));
const known = new Set(rows.map(({ id }) => id));
const TITLE = /(["'`])([A-Z]\d+(?:, [A-Z]\d+)*): /g;
const LEFT_OUT = new Set(["node_modules", "fixtures", "tools"]);

/**
 * Yields the test files of a folder. Suites that several tests share are in files of `test/` that are not tests
 * themselves.
 */
function* testFiles(folder, isTest) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) yield* testFiles(path, isTest);
    else if (entry.isFile() && isTest(entry.name)) yield path;
  }
}

function packageFolders(folder) {
  const packages = join(root, "packages");
  return existsSync(packages) ? readdirSync(packages).map((name) => join(packages, name, folder)) : [];
}

/** Returns the positions of the titles that name a row, as `file:line`, by row id. */
function titledRows() {
  const places = new Map();
  const files = [
    ...packageFolders("src").flatMap((folder) => [...testFiles(folder, (name) => name.endsWith(".test.ts"))]),
    ...packageFolders("test").flatMap((folder) => [...testFiles(folder, (name) => name.endsWith(".ts"))]),
    ...testFiles(join(root, "test"), (name) => name.endsWith(".ts")),
  ];
  for (const file of files) {
    readFileSync(file, "utf8")
      .split("\n")
      .forEach((line, index) => {
        for (const [, , ids] of line.matchAll(TITLE)) {
          for (const id of ids.split(", "))
            places.set(id, [...(places.get(id) ?? []), `${relative(root, file)}:${index + 1}`]);
        }
      });
  }
  return places;
}

const places = titledRows();
const problems = [];
for (const { id, status, work, title } of rows) {
  const hasStatus = status === "covered" || (status === "later" && typeof work === "string");
  if (!hasStatus) problems.push(`${id} is neither \`covered\` nor \`later\` with the kind of work that it belongs to`);
  if (status === "covered" && !places.has(id))
    problems.push(`${id} (${title}) is marked as covered, and no test's title names it`);
}
if (known.size !== rows.length) problems.push("an id occurs twice in rows.json");
for (const [id, where] of places) if (!known.has(id)) problems.push(`${id} is no row: ${where.join(", ")}`);

if (process.argv.includes("--list")) {
  for (const { id, status, work, title } of rows)
    console.log(
      `${id.padEnd(4)} ${String(places.get(id)?.length ?? 0).padStart(3)}  ${(work ?? status).padEnd(16)} ${title}`,
    );
}
for (const problem of problems) console.error(problem);
const covered = rows.filter(({ status }) => status === "covered").length;
const later = rows.flatMap(({ status, work }) => (status === "later" ? [work] : []));
const kinds = [...new Set(later)].map((work) => `${later.filter((one) => one === work).length} ${work}`);
const waiting = kinds.length > 0 ? `${later.length} later (${kinds.join(", ")})` : "none later";
console.log(`${rows.length} rows: ${covered} covered, ${waiting}, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
