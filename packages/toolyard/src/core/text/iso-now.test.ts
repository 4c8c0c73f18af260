import { afterEach, expect, test, vi } from "vitest";
import { isoNow } from "./iso-now.ts";

afterEach(() => void vi.useRealTimers());

test("returns the UTC time with milliseconds, and a new text for each millisecond", () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 3, 4, 5, 6) });
  const first = [isoNow(), isoNow()];
  vi.setSystemTime(Date.UTC(2026, 0, 2, 3, 4, 5, 7));
  expect([...first, isoNow()]).toEqual([
    "2026-01-02T03:04:05.006Z",
    "2026-01-02T03:04:05.006Z",
    "2026-01-02T03:04:05.007Z",
  ]);
});
