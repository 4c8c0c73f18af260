import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { locksOf, pinOf } from "../../../../scripts/extras.mjs";
import { EXTRAS } from "./extras.ts";
import { PARTS } from "./parts.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity?: string }>>;
}

const locks = EXTRAS.map(({ name }) => ({
  name,
  lock: read(join(import.meta.dirname, "locks", `${name}.json`)) as Lock,
}));

test("pins and lock files match package-lock.json; `npm run extras` writes them", () => {
  const wanted = locksOf(PARTS, read(join(ROOT, "package-lock.json")) as Lock);
  expect(Object.fromEntries(locks.map(({ name, lock }) => [name, lock]))).toEqual(wanted);
  for (const { name, versions, lock } of EXTRAS) expect({ versions, lock }, name).toEqual(pinOf(wanted[name]!));
});

test("every lock file belongs to an extra", () => {
  const files = readdirSync(join(import.meta.dirname, "locks"));
  expect(files.toSorted()).toEqual(EXTRAS.map(({ name }) => `${name}.json`).toSorted());
});

test.each(locks)("each package of $name has an exact version and a sha512", ({ lock }) => {
  const { "": head, ...packages } = lock.packages;
  expect(head).toBeDefined();
  expect(Object.keys(packages).length).toBeGreaterThan(0);
  for (const [place, { version, integrity }] of Object.entries(packages)) {
    // The digests of this repository's packages are known only when they are packed.
    if (place.startsWith("node_modules/@toolyard/")) continue;
    expect(version, place).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
    expect(integrity, place).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});
