import stringWidth from "string-width";
import { expect, test } from "vitest";
import { table } from "./table.ts";
import { cutToWidth, displayWidth } from "./table-width.ts";

const ROWS = [
  ["a", "short"],
  ["a-longer-name", "a description that goes on and on for longer than the line has room"],
] as const;

test("makes columns as wide as their widest cell", () => {
  expect(table(["tool", "description"], ROWS, { color: false })).toBe(
    [
      "tool           description",
      "─────────────  ───────────────────────────────────────────────────────────────────",
      "a              short",
      "a-longer-name  a description that goes on and on for longer than the line has room",
    ].join("\n"),
  );
});

test("wraps cells between words at the width of the terminal, with or without room for columns", () => {
  const lines = table(["tool", "description"], ROWS, { color: false, width: 50 }).split("\n");
  expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(50);
  expect(lines.slice(3)).toEqual([
    "a-longer-name  a description that goes on and on",
    "               for longer than the line has room",
  ]);
  expect(table(["tool", "description"], ROWS, { color: false, width: 30 }).split("\n")).toEqual([
    "a",
    "  description short",
    "a-longer-name",
    "  description a description",
    "              that goes on and",
    "              on for longer",
    "              than the line",
    "              has room",
  ]);
});

test("wraps at 100 columns without a terminal, and splits no word there", () => {
  const long = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
  const address = `http://${"a".repeat(150)}/`;
  const lines = table(["tool", "text"], [["one", `${long} ${address}`]], { color: false }).split("\n");
  expect(lines.filter((line) => displayWidth(line) > 100)).toEqual([`      ${address}`]);
  for (const word of long.split(" ")) expect(lines.some((line) => line.includes(word))).toBe(true);
});

test("divides the room between columns that need more, and keeps narrow ones", () => {
  const wide = "w"
    .repeat(12)
    .replaceAll(/(.{3})/g, "$1 ")
    .trim()
    .repeat(6);
  const lines = table(["a", "b", "c"], [["x", wide, wide]], { color: false, width: 60 }).split("\n");
  expect(lines[1]!.split("  ").map((rule) => rule.length)).toEqual([1, 28, 27]);
  expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(60);
});

test("limits the lines of a cell only on a terminal", () => {
  const long = Array.from({ length: 30 }, (_, at) => `word${at}`).join(" ");
  const limited = table(["tool", "text"], [["one", long]], { color: false, width: 40, maxLines: 2 }).split("\n");
  expect(limited.slice(2)).toEqual(["one   word0 word1 word2 word3 word4", "      word5 word6 word7 word8 word9…"]);
  expect(table(["tool", "text"], [["one", long]], { color: false, maxLines: 2 })).toContain("word29");
});

test.each([10, 17, 25, 40, 63, 79, 100, 161])("keeps every line within a terminal of %i columns", (width) => {
  const rows = ["日本語の説明です".repeat(4), "a b ".repeat(40), "🎉 ".repeat(30), "x".repeat(90), ""].map(
    (text, at) => [`n${at}`, text, `k ${text}`],
  );
  const lines = table(["name", "a", "kind"], rows, { color: false, width }).split("\n");
  const whole = rows[3]![1]!;
  expect(lines.filter((line) => displayWidth(line) > width && !line.includes(whole))).toEqual([]);
});

test("colours states by their first word", () => {
  const lines = table(
    ["name", "state"],
    [
      ["a", "ready"],
      ["b", "down: it ended"],
      ["c", "starting"],
      ["d", "odd"],
    ],
    {
      color: true,
    },
  ).split("\n");
  expect(lines.slice(2)).toEqual([
    "a     \u001b[32mready\u001b[39m",
    "b     \u001b[31mdown: it ended\u001b[39m",
    "c     \u001b[33mstarting\u001b[39m",
    "d     odd",
  ]);
});

test("keeps an address in a block complete, so that it can be copied", () => {
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
])("measures the width of %s as a terminal does", (_what, text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test("agrees with the package `string-width` on every code point that the fast path accepts", () => {
  const wrong: string[] = [];
  for (let code = 0x20; code < 0x3_00_00; code += 1) {
    const character = String.fromCodePoint(code);
    // Control characters and lone surrogates are removed before a width is calculated.
    const isShown = !/[\p{Cc}\p{Cs}]/u.test(character);
    if (isShown && displayWidth(character) !== stringWidth(character)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test("truncates a text between characters, never inside one", () => {
  const cut = (width: number) => cutToWidth("🇩🇪👨‍👩‍👧‍👦x", width);
  expect([5, 4, 3, 2, 1].map(cut)).toEqual(["🇩🇪👨‍👩‍👧‍👦x", "🇩🇪…", "🇩🇪…", "…", "…"]);
});

test("counts wide letters and marks like the terminal", () => {
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
    "日本語の説明です日本",
  );
});

test("prevents a server's text from controlling the terminal", () => {
  expect(table(["x"], [["a\u001b[2Jb\r\nc\u0007"]], { color: false }).split("\n")[2]).toBe("a [2Jb c");
});

test("colours the header and the rule, but no other cell", () => {
  const [head, rule, row] = table(["x"], [["y"]], { color: true }).split("\n");
  expect([head, rule, row]).toEqual(["\u001b[1mx\u001b[22m", "\u001b[2m─\u001b[22m", "y"]);
});
