// Packages whose code is bundled into dist/, so that users do not install them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BUNDLED } from "../../scripts/bundle.mjs";
import { PACKAGE } from "../cli/harness.ts";

const MANIFEST = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
};
const NOTIFICATION = readFileSync(join(PACKAGE, "NOTICE"), "utf8");

test.each([...BUNDLED])("%s is a development dependency with an exact version, and NOTICE has its license", (name) => {
  const version = MANIFEST.devDependencies[name]!;
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(MANIFEST.dependencies).not.toHaveProperty([name]);
  expect(NOTIFICATION).toContain(`\n${name} ${version}\n\n`);
});

test("NOTICE names the packages inside bundled ones, and the works that trained the token table", () => {
  for (const name of ["entities", "readdirp", "Open English WordNet", "tldr-pages", "CC BY 4.0"])
    expect(NOTIFICATION).toContain(name);
});

test("no file of dist imports a bundled package by its name", () => {
  const dist = join(PACKAGE, "dist");
  const imports = new RegExp(`(?:from|import)\\s*\\(?\\s*["'](?:${[...BUNDLED].join("|")})["']`);
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".js"));
  const code = (path: string): string => readFileSync(join(dist, path), "utf8").replaceAll(/^\s*(?:\*|\/\/).*$/gm, "");
  expect(files.filter((path) => imports.test(code(path)))).toEqual([]);
});

test("every package that a file of dist imports is a dependency, an extra, a server or this package", () => {
  const dist = join(PACKAGE, "dist");
  const known = new Set([...Object.keys(MANIFEST.dependencies), "toolyard"]);
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) =>
    /^(?!runtimes|sandbox|compat).*\.js$/.test(path),
  );
  const named = files.flatMap((path) =>
    [...readFileSync(join(dist, path), "utf8").matchAll(/^import [^;\n]*?from "([^".][^"]*)";$/gm)].map(
      ([, name]) => name!,
    ),
  );
  const packages = named
    .filter((name) => !name.startsWith("node:"))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]);
  expect([...new Set(packages)].filter((name) => !known.has(name))).toEqual([]);
});
