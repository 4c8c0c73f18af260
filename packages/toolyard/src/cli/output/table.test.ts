import stringWidth from "string-width";
import { expect, test } from "vitest";
import { cutToWidth, displayWidth, table } from "./table.ts";

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

test.each([
  ["ASCII", "abc", 3],
  ["an empty text", "", 0],
  ["a flag", "🇩🇪", 2],
  ["two flags", "🇩🇪🇫🇷", 4],
  ["a family", "👨‍👩‍👧‍👦", 2],
  ["an emoji with a skin tone", "👍🏽", 2],
  ["a heart with a variation selector", "❤️", 2],
  ["a heart without one", "❤", 1],
  ["a keycap", "1️⃣", 2],
  ["a subdivision flag", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", 2],
  ["a rainbow flag", "🏳️‍🌈", 2],
  ["a letter with two marks", "a\u0323\u0302", 1],
  ["Hangul as letters", "\u1112\u1161\u11ab", 2],
  ["halfwidth kana", "ｱｲ", 2],
  ["fullwidth Latin", "ＡＢ", 4],
  ["a zero-width space", "a\u200bb", 2],
])("%s has its width on a terminal", (_what, text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test("the short way for narrow texts agrees with the package on every code point", () => {
  const wrong: string[] = [];
  for (let code = 0x20; code < 0x3_00_00; code += 1) {
    const character = String.fromCodePoint(code);
    // Control characters and lone surrogates are removed before a width is asked for.
    const isShown = !/[\p{Cc}\p{Cs}]/u.test(character);
    if (isShown && displayWidth(character) !== stringWidth(character)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test("a text is cut between characters, never inside of one", () => {
  const cut = (width: number) => cutToWidth("🇩🇪👨‍👩‍👧‍👦x", width);
  expect([5, 4, 3, 2, 1].map(cut)).toEqual(["🇩🇪👨‍👩‍👧‍👦x", "🇩🇪…", "🇩🇪…", "…", "…"]);
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
