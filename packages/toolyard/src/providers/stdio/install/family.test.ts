import { expect, test } from "vitest";
import type { ProcessRow } from "../../../process/process-table.ts";
import { watchFamily } from "./family.ts";

function row(pid: number, parent: number, workedTicks = 0): ProcessRow {
  return { pid, parent, group: 1, session: 1, startedAt: pid, workedTicks, isZombie: false };
}

function looks(...tables: readonly (readonly ProcessRow[])[]): readonly boolean[] {
  let at = 0;
  const worked = watchFamily(
    () => tables[at]!,
    () => at * 1000,
  );
  return tables.map((_, index) => {
    at = index;
    return worked(10);
  });
}

test("counts a new or ended child of any generation as activity", () => {
  const [parent, child, grandchild] = [row(10, 1), row(11, 10), row(12, 11)];
  expect(looks([parent, child], [grandchild, parent, child], [parent, child])).toEqual([false, true, true]);
});

test("counts a working child as activity, but not one that waits, or a child of another process", () => {
  const parent = row(10, 1);
  expect(looks([parent, row(11, 10)], [parent, row(11, 10, 40)])).toEqual([false, true]);
  expect(looks([parent, row(11, 10)], [parent, row(11, 10, 1)])).toEqual([false, false]);
  expect(looks([parent, row(21, 20)], [parent, row(21, 20, 40), row(22, 20)])).toEqual([false, false]);
});

test("counts work that a busy machine spreads over seconds, but not the same amount over a longer time", () => {
  const worked = (...ticks: readonly number[]) => looks(...ticks.map((count) => [row(10, 1, count)]));
  expect(worked(0, 2, 4, 6, 7)).toEqual([false, false, false, true, false]);
  expect(worked(0, 0, 1, 1, 2, 2, 3, 4, 5)).not.toContain(true);
});
