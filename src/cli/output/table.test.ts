import { expect, test } from "vitest";
import { displayWidth, table } from "./table.ts";

const ROWS = [
  ["a", "short"],
  ["a-longer-name", "a description that goes on and on for longer than the line has room"],
] as const;

test("columns are as wide as their widest cell; without a terminal nothing is cut", () => {
  expect(table(["tool", "description"], ROWS, { color: false })).toBe(
    [
      "tool           description",
      "─────────────  ───────────────────────────────────────────────────────────────────",
      "a              short",
      "a-longer-name  a description that goes on and on for longer than the line has room",
    ].join("\n"),
  );
});

test("on a terminal no line is longer than it; where the first columns leave no room, a row is a block", () => {
  const lines = table(["tool", "description"], ROWS, { color: false, width: 50 }).split("\n");
  expect(Math.max(...lines.map(displayWidth))).toBe(50);
  expect(lines[3]).toBe("a-longer-name  a description that goes on and on …");
  expect(table(["tool", "description"], ROWS, { color: false, width: 30 }).split("\n")).toEqual([
    "a",
    "  description short",
    "a-longer-name",
    "  description a description t…",
  ]);
});

test("an address in a block is whole, so that it can be copied", () => {
  const rows = [["datetime", "get_current_datetime", "http://127.0.0.1:50051/mcp"]];
  expect(table(["service", "tool", "endpoint"], rows, { color: false, width: 34 }).split("\n")).toEqual([
    "datetime",
    "  tool get_current_datetime",
    "  http://127.0.0.1:50051/mcp",
  ]);
});

test("wide letters and marks count as the terminal counts them", () => {
  expect([displayWidth("abc"), displayWidth("日本"), displayWidth("e\u0301"), displayWidth("🎉")]).toEqual([
    3, 4, 1, 2,
  ]);
  const lines = table(
    ["x", "y"],
    [
      ["日本", "b"],
      ["abcd", "b"],
    ],
    { color: false },
  ).split("\n");
  expect(lines.slice(2)).toEqual(["日本  b", "abcd  b"]);
  expect(table(["x"], [["日本語の説明です日本語の説明です"]], { color: false, width: 21 }).split("\n")[2]).toBe(
    "日本語の説明です日本…",
  );
});

test("what a server says cannot steer the terminal", () => {
  expect(table(["x"], [["a\u001b[2Jb\r\nc\u0007"]], { color: false }).split("\n")[2]).toBe("a [2Jb c");
});

test("colour is for the head alone", () => {
  const [head, rule, row] = table(["x"], [["y"]], { color: true }).split("\n");
  expect([head, rule, row]).toEqual(["\u001b[1mx\u001b[22m", "\u001b[2m─\u001b[22m", "y"]);
});
