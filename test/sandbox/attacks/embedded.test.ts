import { expect, test } from "vitest";
import { PLOTS } from "./plots.ts";
import { ATTACKS, attackSuite } from "./suite.ts";

const LEAST_ATTACKS = 120;

// Everywhere, and never skipped.
const isPresent = await attackSuite("embedded");

test("S9: the embedded engine is attacked everywhere, the list of attacks grows, and no two have one name", () => {
  const ids = [...ATTACKS, ...PLOTS].map(({ id }) => id);
  expect(isPresent).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(LEAST_ATTACKS);
});
