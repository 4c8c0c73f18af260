import { expect, test } from "vitest";
import { answerHead } from "./answer-head.ts";

const ENDING = { closes: false, idleMs: 5000 };

function fieldsOf(headers: readonly string[], earlier: readonly string[] = []): string[] {
  const { text } = answerHead(200, { earlier, headers }, ENDING);
  return text
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .filter((line) => !line.startsWith("Date: "));
}

const KEPT = ["Connection: keep-alive", "Keep-Alive: timeout=5"];

test("reuses the previous head with a different length if only the length differs", () => {
  const withLength = (length: string): string[] => ["content-type", "a/b", "content-length", length];
  for (const length of ["1", "22", "1"])
    expect(fieldsOf(withLength(length))).toEqual(["content-type: a/b", `content-length: ${length}`, ...KEPT]);
});

test("writes the complete head if it differs from the previous one in more than the length", () => {
  expect(fieldsOf(["x", "1", "content-length", "1"])).toEqual(["x: 1", "content-length: 1", ...KEPT]);
  expect(fieldsOf(["x", "2", "content-length", "1"])).toEqual(["x: 2", "content-length: 1", ...KEPT]);
  expect(fieldsOf(["y", "2", "content-length", "1"])).toEqual(["y: 2", "content-length: 1", ...KEPT]);
  expect(fieldsOf(["y", "2", "x", "1"])).toEqual(["y: 2", "x: 1", ...KEPT, "Transfer-Encoding: chunked"]);
  expect(fieldsOf(["y", "2", "content-length", "1"], ["z", "3"])).toEqual([
    "z: 3",
    "y: 2",
    "content-length: 1",
    ...KEPT,
  ]);
  expect(fieldsOf(["y", "2", "content-length", "1"])).toEqual(["y: 2", "content-length: 1", ...KEPT]);
});

test("closes the connection after each answer that requires it, and after no other", () => {
  const closing = ["connection", "close", "content-length", "1"];
  for (const length of ["1", "2"]) {
    const { text, closes } = answerHead(200, { earlier: [], headers: closing.with(3, length) }, ENDING);
    expect([closes, text.includes("Connection: close"), text.includes(`content-length: ${length}\r\n`)]).toEqual([
      true,
      true,
      true,
    ]);
  }
  expect(answerHead(200, { earlier: [], headers: ["x", "y", "content-length", "1"] }, ENDING).closes).toBe(false);
});
