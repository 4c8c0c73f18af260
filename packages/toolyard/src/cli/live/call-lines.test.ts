import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { displayWidth } from "../output/table-width.ts";
import { callLines, type ShownCall } from "./call-lines.ts";

const SEEN = {
  who: "claude-desktop",
  endpoint: "mcp-http",
  target: "files__read_multiple_files",
  durationMs: 6.6,
  kind: "ok",
} as const;

/** Returns the output for a call on a terminal with this many columns. */
function shown(seen: ShownCall, columns: number): string {
  const stderr = Object.assign(new PassThrough(), { columns });
  callLines({ stderr, color: false })(seen);
  return String(stderr.read());
}

test("prints a call as one line: time, caller, tool, duration and outcome", () => {
  expect(shown(SEEN, 80)).toMatch(/^\d\d:\d\d:\d\d {2}claude-desktop {2}files__read_multiple_files {2}7 ms {2}ok\n$/);
});

test("prints one line with the complete outcome on a narrow terminal too", () => {
  expect(shown(SEEN, 40)).toMatch(/^\d\d:\d\d:\d\d {2}clau… {2}files__.*… {2}7 ms {2}ok\n$/);
  const failed = shown({ ...SEEN, kind: "unknown_tool" }, 40);
  expect(failed).toMatch(/^\S{4,6} {2}files__.*… {2}7 ms {2}unknown_tool\n$/);
  expect(displayWidth(failed.trimEnd())).toBeLessThan(40);
});
