import v8 from "node:v8";
import { afterEach, expect, test, vi } from "vitest";
import { beginStart, endStart } from "./start-optimisation.ts";

/** Options that a start sets, in order. Node 22 and later have none. */
const OPTIONS = process.versions.node.startsWith("20.")
  ? ["--interrupt-budget=400000", "--interrupt-budget=67584"]
  : [];

afterEach(() => {
  endStart();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function watchFlags(): string[] {
  const flags: string[] = [];
  vi.spyOn(v8, "setFlagsFromString").mockImplementation((flag) => void flags.push(flag));
  return flags;
}

test("raises V8's optimisation budget at the start on Node 20, and restores the default once at its end", () => {
  const flags = watchFlags();
  beginStart();
  endStart();
  endStart();
  expect(flags).toEqual(OPTIONS);
});

test("changes no option of a process that did not begin a start", () => {
  const flags = watchFlags();
  endStart();
  expect(flags).toEqual([]);
});

test("restores the default after ten seconds without a call", () => {
  vi.useFakeTimers();
  const flags = watchFlags();
  beginStart();
  vi.advanceTimersByTime(9_999);
  expect(flags).toEqual(OPTIONS.slice(0, 1));
  vi.advanceTimersByTime(1);
  expect(flags).toEqual(OPTIONS);
});
