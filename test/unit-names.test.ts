import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../packages");

/** A suite that every implementation of a port runs. */
const PORT_SUITES: readonly string[] = [
  "toolyard/src/state/contract.test.ts",
  "toolyard/src/auth/builtin/contract.test.ts",
];

interface Folder {
  readonly path: string;
  readonly files: readonly string[];
}

function foldersBelow(path: string): Folder[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const inner = entries.filter((entry) => entry.isDirectory() && entry.name !== "node_modules");
  return [{ path, files }, ...inner.flatMap(({ name }) => foldersBelow(`${path}/${name}`))];
}

/**
 * Returns true if a suite tests a source file: `session.test.ts`, and `session-fuzz.test.ts` if one file would be too
 * long, test `session.ts`.
 */
function isOf(suite: string, source: string): boolean {
  const [test, own] = [suite.replace(/\.test\.ts$/, ""), basename(source).replace(/\.[cm]?[jt]s$/, "")];
  return test === own || test.startsWith(`${own}-`);
}

function withoutSource({ path, files }: Folder): string[] {
  const suites = files.filter((name) => name.endsWith(".test.ts"));
  const sources = files.filter((name) => /\.[cm]?[jt]s$/.test(name) && !suites.includes(name));
  return suites.filter((suite) => !sources.some((source) => isOf(suite, source))).map((suite) => `${path}/${suite}`);
}

test("each unit test has the name of a file next to it, or is the suite of a port", () => {
  const packages = readdirSync(ROOT).filter((name) => existsSync(join(ROOT, name, "src")));
  const strangers = packages.flatMap((name) => foldersBelow(`${name}/src`).flatMap(withoutSource));
  expect(strangers.toSorted()).toEqual(PORT_SUITES.toSorted());
});

test("detects a test without a file next to it", () => {
  const folder = { path: "src/x", files: ["session.ts", "session.test.ts", "session-fuzz.test.ts", "clients.test.ts"] };
  expect(withoutSource(folder)).toEqual(["src/x/clients.test.ts"]);
});
