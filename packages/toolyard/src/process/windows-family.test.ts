import { expect, test } from "vitest";
import { familyOf, parseWindowsTable } from "./windows-family.ts";

const BORN = 1_760_000_000_000;
const ROOT = { pid: 40, bornAtMs: BORN };
const row = (pid: number, parent: number, afterMs: number) => ({ pid, parent, bornAtMs: BORN + afterMs });

test("parses lines of numbers, and ignores all other lines", () => {
  expect(parseWindowsTable("40 12 1760000000000\r\nnoise\r\n41 40 1760000000500\r\n")).toEqual([
    { pid: 40, parent: 12, bornAtMs: BORN },
    { pid: 41, parent: 40, bornAtMs: BORN + 500 },
  ]);
});

test("returns all descendants of a process, in any order of the table", () => {
  expect(familyOf(ROOT, [row(42, 41, 900), row(41, 40, 500), row(40, 12, 3), row(50, 12, 100)])).toEqual([40, 41, 42]);
});

test("returns the descendants of a process that has exited", () => {
  expect(familyOf(ROOT, [row(41, 40, 500), row(42, 41, 900)])).toEqual([41, 42]);
});

test("excludes a process that reuses the root's number, and its descendants", () => {
  expect(familyOf(ROOT, [row(40, 9, 60_000), row(43, 40, 61_000), row(41, 40, 500)])).toEqual([41]);
});

test("excludes a process that is older than its parent", () => {
  expect(familyOf(ROOT, [row(40, 12, 0), row(41, 40, -90_000), row(42, 40, 500), row(43, 42, 100)])).toEqual([40, 42]);
});
