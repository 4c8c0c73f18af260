import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import type { Io } from "../output/io.ts";
import { showSources, sourceLine } from "./sources.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function sourcesWith(status: object): { sources(): readonly SourceReport[] } {
  const source = { id: "memory", kind: "stdio", order: 0 };
  return { sources: () => [{ source, status, tools: 1 } as unknown as SourceReport] };
}

test("reports one failure of a source that retries, then that it is ready", () => {
  const stderr = new PassThrough();
  const io = { stdout: new PassThrough(), stderr, env: {} } as unknown as Io;
  let status: object = { state: "starting" };
  const live = showSources({ sources: () => sourcesWith(status).sources() }, {}, io);
  const failed = { state: "down", lastError: "Command `npx` was not found in 2 folders. Install it." };
  const installing = {
    state: "starting",
    installing: { since: new Date().toISOString(), waitsFor: "its cache grows" },
  };
  for (const next of [failed, installing, failed, { state: "starting" }, failed, { state: "ready" }]) {
    status = next;
    vi.advanceTimersByTime(400);
  }
  live.end();
  const said = String(stderr.read()).split("\n");
  expect(said.map((line) => line.replace(/, \d+ s/, ""))).toEqual([
    "memory: starting",
    "memory: down: Command `npx` was not found in 2 folders.",
    "memory: ready: 1 tool",
    "",
  ]);
});

test("reports a start as delayed only if a busy machine delays it", () => {
  const noteOf = (status: object): unknown => sourceLine(sourcesWith(status).sources()[0]!)[0]?.note;
  expect(noteOf({ state: "starting", delayedMs: 8000 })).toBe("the machine is busy");
  expect(noteOf({ state: "starting", delayedMs: 20 })).toBeUndefined();
  expect(noteOf({ state: "ready" })).toBe("1 tool");
});
