/* oxlint-disable no-control-regex -- What a terminal obeys is what is looked for. */
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Io, Terminal } from "../output/io.ts";
import type { LiveLine } from "./line-text.ts";
import { showLive } from "./live.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function terminal(isTTY: boolean, columns = 60): { readonly stream: Terminal; readonly written: string[] } {
  const written: string[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY, columns, rows: 24 });
  stream.on("data", (chunk) => void written.push(String(chunk)));
  return { stream, written };
}

function ioOf(stderr: Terminal, env: Io["env"] = {}): Io {
  const interrupted = new AbortController().signal;
  return { stdout: new PassThrough(), stderr, env, cwd: "/", color: false, interrupted, readStdin: async () => "" };
}

const BUSY: LiveLine = { name: "memory", state: "starting" };

test("redraws lines in place on a terminal, at most ten times a second, and clears them at the end", () => {
  const { stream, written } = terminal(true);
  const live = showLive(ioOf(stream), { read: () => [BUSY] });
  for (let at = 0; at < 100; at += 1) {
    live.refresh();
    vi.advanceTimersByTime(10);
  }
  const drawn = written.filter((text) => text.includes("memory: starting"));
  expect(drawn.length).toBeGreaterThan(2);
  expect(drawn.length).toBeLessThanOrEqual(10);
  expect(drawn[0]).toMatch(/^\u001b\[\?25l/);
  expect(drawn[1]).toMatch(/^\u001b\[1A\r\u001b\[J/);
  live.end();
  expect(written.at(-1)).toBe("\u001b[1A\r\u001b[J\u001b[?25h");
});

test("uses the default width for a terminal that reports 0 columns", () => {
  const { stream, written } = terminal(true, 0);
  const live = showLive(ioOf(stream), { read: () => [BUSY] });
  vi.advanceTimersByTime(400);
  live.end();
  expect(written[0]).toContain("memory: starting");
  expect(written.at(-1)).toBe("\u001b[1A\r\u001b[J\u001b[?25h");
});

test("shows nothing for an activity that ends before the first redraw", () => {
  const { stream, written } = terminal(true);
  const live = showLive(ioOf(stream), { read: () => [BUSY] });
  vi.advanceTimersByTime(100);
  live.end();
  expect(written).toEqual([]);
});

test("keeps other output above the lines, including unfinished lines", () => {
  const { stream, written } = terminal(true);
  const live = showLive(ioOf(stream), { read: () => [BUSY] });
  vi.advanceTimersByTime(200);
  stream.write("a warn");
  expect(written.slice(-2)).toEqual(["\u001b[1A\r\u001b[J", "a warn"]);
  const count = written.length;
  vi.advanceTimersByTime(1000);
  expect(written).toHaveLength(count);
  stream.write("ing\n");
  vi.advanceTimersByTime(200);
  expect(written.at(-1)).toContain("memory: starting");
  live.end();
});

test("clears all rows that the lines take after the terminal has become narrower", () => {
  const { stream, written } = terminal(true, 60);
  const live = showLive(ioOf(stream), { read: () => [{ ...BUSY, note: "x".repeat(100) }] });
  vi.advanceTimersByTime(200);
  Object.assign(stream, { columns: 20 });
  stream.emit("resize");
  expect(written.at(-1)).toMatch(/^\u001b\[3A\r\u001b\[J/);
  live.end();
});

test.each([
  ["without a terminal", false, {}],
  ["on a dumb terminal", true, { TERM: "dumb" }],
])("%s prints one plain line for each change, without cursor movement", (_where, isTTY, env) => {
  const { stream, written } = terminal(isTTY);
  let line = BUSY;
  const live = showLive(ioOf(stream, env), { read: () => [line, { name: "own", state: "ready", outcome: "ok" }] });
  vi.advanceTimersByTime(3000);
  line = { name: "memory", state: "ready", outcome: "ok", note: "9 tools" };
  vi.advanceTimersByTime(1000);
  live.end();
  expect(written.join("")).toMatch(/^memory: starting\nmemory: ready(, 3 s)?: 9 tools\n$/);
});

test("writes nothing with --json", () => {
  for (const isTTY of [true, false]) {
    const { stream, written } = terminal(isTTY);
    const live = showLive(ioOf(stream), { read: () => [BUSY], json: true });
    vi.advanceTimersByTime(1000);
    live.end();
    expect(written).toEqual([]);
  }
});
