import { expect, test } from "vitest";
import { familyOf, parseWindowsTable } from "./windows-family.ts";

const BORN = 1_760_000_000_000;
const ROOT = { pid: 40, bornAtMs: BORN };
const row = (pid: number, parent: number, afterMs: number) => ({ pid, parent, bornAtMs: BORN + afterMs });

test("lines of numbers are read, and anything else is passed over", () => {
  expect(parseWindowsTable("40 12 1760000000000\r\nnoise\r\n41 40 1760000000500\r\n")).toEqual([
    { pid: 40, parent: 12, bornAtMs: BORN },
    { pid: 41, parent: 40, bornAtMs: BORN + 500 },
  ]);
});

test("a process has what came of it, in any order of the list", () => {
  expect(familyOf(ROOT, [row(42, 41, 900), row(41, 40, 500), row(40, 12, 3), row(50, 12, 100)])).toEqual([40, 41, 42]);
});

test("an exited process has the descendants that it left", () => {
  expect(familyOf(ROOT, [row(41, 40, 500), row(42, 41, 900)])).toEqual([41, 42]);
});

test("a process that reuses its number, with its descendants, is not in its family", () => {
  expect(familyOf(ROOT, [row(40, 9, 60_000), row(43, 40, 61_000), row(41, 40, 500)])).toEqual([41]);
});

test("who is older than its parent is the child of another", () => {
  expect(familyOf(ROOT, [row(40, 12, 0), row(41, 40, -90_000), row(42, 40, 500), row(43, 42, 100)])).toEqual([40, 42]);
});
