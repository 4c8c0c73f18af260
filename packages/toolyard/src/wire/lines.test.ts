import { expect, test } from "vitest";
import { LineDecoder, type SkippedLine } from "./lines.ts";

function decode(chunks: readonly (string | Buffer)[], maxLineBytes = 1000) {
  const lines: string[] = [];
  const skipped: SkippedLine[] = [];
  const tooLong: number[] = [];
  const decoder = new LineDecoder(maxLineBytes, {
    onLine: (line) => lines.push(line),
    onTooLong: (bytes) => tooLong.push(bytes),
    onSkipped: (line) => skipped.push(line),
  });
  for (const chunk of chunks) decoder.push(Buffer.from(chunk));
  decoder.flush();
  return { lines, skipped, tooLong };
}

test("splits lines at line breaks for any split of the chunks, and keeps characters whole", () => {
  const bytes = Buffer.from("héllo\r\nwörld\n\nend");
  const chunks = Array.from({ length: bytes.length }, (_, index) => bytes.subarray(index, index + 1));
  expect(decode(chunks).lines).toEqual(["héllo", "wörld", "", "end"]);
});

test("reports a line above the limit once with its start and end, and reads the next line completely", () => {
  const long = `head${"x".repeat(5000)}tail`;
  const { lines, skipped, tooLong } = decode([
    "before\n",
    long.slice(0, 700),
    long.slice(700, 3000),
    long.slice(3000),
    "\nafter\n",
  ]);
  expect(lines).toEqual(["before", "after"]);
  expect(tooLong).toHaveLength(1);
  expect(skipped).toEqual([{ bytes: long.length, head: long.slice(0, 512), tail: long.slice(-512) }]);
});

test("keeps a line of exactly the maximum length", () => {
  expect(decode(["x".repeat(10), "\n"], 10)).toEqual({ lines: ["x".repeat(10)], skipped: [], tooLong: [] });
});
