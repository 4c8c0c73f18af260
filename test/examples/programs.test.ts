import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPage, readSnippets, SnippetFolder } from "../docs/snippets.ts";
import { Desk, exitOf, ROOT, textOf } from "../cli/harness.ts";

const PROGRAMS = readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".ts"));

test.each(PROGRAMS)("the assertions of examples/%s hold, from any folder", async (name) => {
  await using desk = await Desk.create();
  const child = desk.startCommand([
    process.execPath,
    "--import",
    join(ROOT, "packages/toolyard/dist/runtimes/typescript/register.js"),
    join(ROOT, "examples", name),
  ]);
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toBe("");
});

test.each(PROGRAMS)("examples/%s uses only public names", (name) => {
  const imports = [...readFileSync(join(ROOT, "examples", name), "utf8").matchAll(/from "([^"]+)"/g)].map(
    ([, from]) => from!,
  );
  const isPublic = (from: string): boolean => /^toolyard(?:\/[a-z]+)?$/.test(from);
  expect(imports.some(isPublic)).toBe(true);
  expect(imports.filter((from) => !isPublic(from) && !from.startsWith("node:"))).toEqual([]);
});

test("README.md: its programs run unchanged", async () => {
  const programs = readSnippets(readPage("README.md")).filter(({ language }) => language === "ts");
  expect(programs.length).toBeGreaterThan(0);
  await using folder = await SnippetFolder.create();
  symlinkSync(join(ROOT, "examples"), join(folder.path, "examples"));
  await folder.run(programs);
});
