import { expect, test } from "vitest";
import { StderrTail } from "./stderr-tail.ts";

test("keeps the last lines, including an unfinished one, and calls onLine once for each whole line", () => {
  const heard: string[] = [];
  const tail = new StderrTail({ maxLines: 2, onLine: (line) => heard.push(line) });
  for (const part of ["a\nb\r\n", "c", "c\nd"]) tail.push(Buffer.from(part));
  expect(tail.lines()).toEqual(["cc", "d"]);
  expect(heard).toEqual(["a", "b", "cc"]);
  tail.flush();
  expect(heard).toEqual(["a", "b", "cc", "d"]);
  expect(tail.text()).toBe("cc\nd");
});

test("decodes a character split between two chunks, and replaces invalid bytes with U+FFFD", () => {
  const tail = new StderrTail();
  const bytes = Buffer.from("é\n");
  tail.push(bytes.subarray(0, 1));
  tail.push(bytes.subarray(1));
  tail.push(Buffer.from([0xff, 0x0a]));
  expect(tail.lines()).toEqual(["é", "\uFFFD"]);
});

test("truncates a line without end at the limit, and keeps only the last lines of a flood", () => {
  const tail = new StderrTail({ maxLines: 3, maxLineChars: 10 });
  for (let index = 0; index < 1000; index += 1) tail.push(Buffer.alloc(10_000, "x"));
  expect(tail.lines()).toEqual(["xxxxxxxxxx… (9999990 more characters)"]);
  tail.push(Buffer.from("\n".repeat(100_000)));
  expect(tail.lines()).toEqual(["", "", ""]);
});
