import { expect, test } from "vitest";
import { PLOTS } from "./plots.ts";
import { ATTACKS, attackSuite } from "./suite.ts";

const LEAST_ATTACKS = 120;

// The embedded engine is available everywhere, so these attacks are never skipped.
const isPresent = await attackSuite("embedded");

test("S9: the embedded engine is available everywhere, all attacks run on it, and their ids are unique", () => {
  const ids = [...ATTACKS, ...PLOTS].map(({ id }) => id);
  expect(isPresent).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(LEAST_ATTACKS);
});
