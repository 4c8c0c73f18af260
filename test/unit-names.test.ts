import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../packages");

/** One suite that everything which keeps a port's promise runs through. */
const PORT_SUITES: readonly string[] = ["toolyard/src/state/contract.test.ts"];

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

/** `session.test.ts` is of `session.ts`, and so is `session-fuzz.test.ts`, where one file would be too long. */
function isOf(suite: string, source: string): boolean {
  const [test, own] = [suite.replace(/\.test\.ts$/, ""), basename(source).replace(/\.[cm]?[jt]s$/, "")];
  return test === own || test.startsWith(`${own}-`);
}

function withoutSource({ path, files }: Folder): string[] {
  const suites = files.filter((name) => name.endsWith(".test.ts"));
  const sources = files.filter((name) => /\.[cm]?[jt]s$/.test(name) && !suites.includes(name));
  return suites.filter((suite) => !sources.some((source) => isOf(suite, source))).map((suite) => `${path}/${suite}`);
}

test("a unit test bears the name of a file next to it, or is the one suite of a port", () => {
  const packages = readdirSync(ROOT).filter((name) => existsSync(join(ROOT, name, "package.json")));
  const strangers = packages.flatMap((name) => foldersBelow(`${name}/src`).flatMap(withoutSource));
  expect(strangers.toSorted()).toEqual(PORT_SUITES.toSorted());
});

test("a test of nothing next to it is found out", () => {
  const folder = { path: "src/x", files: ["session.ts", "session.test.ts", "session-fuzz.test.ts", "clients.test.ts"] };
  expect(withoutSource(folder)).toEqual(["src/x/clients.test.ts"]);
});
