import { describe, expect, test } from "vitest";
import { cpuMs } from "../../../../../test/fixtures/cpu-time.ts";
import { holdsHidden, holdsInvisible, mayHoldHidden, safeToShow, withoutHidden, withoutTags } from "./hidden-text.ts";

const ENGLAND = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

describe("hidden characters in prose", () => {
  test.each([
    ["a heart in colour", "\u2764\ufe0f"],
    ["a heart as text", "\u2764\ufe0e"],
    ["a keycap", "1\ufe0f\u20e3"],
    ["a family", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"],
    ["a person with a tone of skin and a trade", "\u{1f469}\u{1f3fd}\u200d\u{1f4bb}"],
    ["a flag with a selector", "\u{1f3f3}\ufe0f\u200d\u{1f308}"],
    ["a man bouncing a ball", "\u26f9\u{1f3ff}\u200d\u2642\ufe0f"],
    ["Persian", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
    ["Devanagari", "\u0915\u094d\u200d\u0937"],
    ["accents, line breaks and tabs", "e\u0301\r\n\tü"],
  ])("keeps %s", (_name, text) => {
    expect(withoutHidden(text)).toBe(text);
    expect(holdsInvisible(text)).toBe(false);
  });

  test.each([
    ["a space without a width", "a\u200bb", "ab"],
    ["a joiner between Latin letters", "a\u200db", "ab"],
    ["a joiner before an emoji", "a\u200d\u{1f469}", "a\u{1f469}"],
    ["a joiner after the last emoji", "\u{1f469}\u200d", "\u{1f469}"],
    ["a joiner at the end of a Persian word", "\u0645\u06cc\u200c", "\u0645\u06cc"],
    ["a selector after a letter", "a\ufe0f", "a"],
    ["a selector after a digit that is no keycap", "1\ufe0f2", "12"],
    ["a second selector", "\u2764\ufe0f\ufe0f", "\u2764\ufe0f"],
    ["another selector", "\u2764\ufe01", "\u2764"],
    ["a selector of the supplement", "a\u{e0101}", "a"],
    ["tag letters", "a\u{e0041}", "a"],
    ["tag letters of a flag", ENGLAND, "\u{1f3f4}"],
    ["a mark of direction", "a\u202eb\u200fc", "abc"],
    ["a byte order mark and a soft hyphen", "\ufeffa\u00adb", "ab"],
    ["a filler of Hangul", "a\u3164b", "ab"],
    ["an anchor of annotation", "a\ufff9b", "ab"],
  ])("removes %s from prose", (_name, text, rest) => {
    expect(withoutHidden(text)).toBe(rest);
    expect(holdsInvisible(text)).toBe(true);
  });

  test.each([
    ["an escape sequence", "a\u001b[31mb\u0007", "a[31mb"],
    ["a C1 control", "a\u009b1mb\u0090c", "a1mbc"],
    ["NUL and DEL", "a\u0000b\u007f", "ab"],
    ["a separator of lines", "a\u2028b", "a\nb"],
    ["a separator of paragraphs", "a\u2029b", "a\nb"],
    ["a next line", "a\u0085b", "a\nb"],
    ["a flood of marks", `a${"\u0301".repeat(500)}b`, `a${"\u0301".repeat(10)}b`],
    ["a flood of mixed marks", `a${"\u0301\u0f71\u20dd".repeat(50)}b`, `a${"\u0301\u0f71\u20dd".repeat(3)}\u0301b`],
  ])("removes %s from prose and reports it in data", (_name, text, rest) => {
    expect(withoutHidden(text)).toBe(rest);
    expect(holdsHidden(text)).toBe(true);
    expect(holdsHidden(rest)).toBe(false);
  });

  test.each([
    ["Vietnamese, decomposed", "Tie\u0302\u0301ng Vie\u0323\u0302t"],
    ["Hebrew with points and accents", "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u0596\u05d9\u05ea"],
    ["a Tibetan stack", "\u0f67\u0fb1\u0fb2\u0fba\u0f72\u0f7e"],
    ["Thai", "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48"],
    ["ten marks on one letter", `a${"\u0301".repeat(10)}`],
    ["line breaks and tabs", "a\r\n\tb"],
  ])("keeps %s in prose and in data", (_name, text) => {
    expect(withoutHidden(text)).toBe(text);
    expect(holdsHidden(text)).toBe(false);
  });

  test("processes a hundred thousand hidden characters or joiners in a row quickly", () => {
    const before = cpuMs();
    expect(withoutHidden("\u200d".repeat(100_000))).toBe("");
    expect(withoutHidden("\u{1f3fd}\u200d".repeat(50_000))).toHaveLength(100_000);
    expect(cpuMs() - before).toBeLessThan(2000);
  });
});

describe("hidden characters in results", () => {
  test("removes tag letters, but keeps those of a flag and all other characters", () => {
    expect(withoutTags(`a\u{e0041}\u{e007f}b ${ENGLAND} \u200b\u2764\ufe0f`)).toBe(`ab ${ENGLAND} \u200b\u2764\ufe0f`);
  });

  test("removes words after the start of a flag", () => {
    const words = Array.from("ignore all", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    expect(withoutTags(`\u{1f3f4}${words}\u{e007f}`)).toBe("\u{1f3f4}");
    expect(withoutTags(`\u{1f3f4}${words}`)).toBe("\u{1f3f4}");
  });
});

test("removes escapes and direction marks from displayed text, and keeps line breaks and tabs", () => {
  expect(safeToShow("a\u001b[2Jb\u009b1mc\u202ed\u2066e\u200ff\ng\th")).toBe("a[2Jb1mcdef\ng\th");
});

test.each([
  ["tool_error: no\rpaid: yes", "tool_error: no\npaid: yes"],
  ["one\r\ntwo\n", "one\r\ntwo\n"],
  ["\r\r\n\r", "\n\r\n\n"],
  // The direction mark is removed before the control character, and the carriage return must still count as a lone one.
  ["a\r\u202e\u0007b", "a\nb"],
  ["a\r\u001b\nb", "a\r\nb"],
])("a carriage return does not overwrite the displayed line: %j", (text, shown) => {
  expect(safeToShow(text)).toBe(shown);
});

test("finds every text with hidden characters in its JSON, and no plain ASCII text", () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const text = `a${String.fromCharCode(code)} b`;
    if (holdsHidden(text) || holdsInvisible(text)) expect(mayHoldHidden(JSON.stringify({ text })), text).toBe(true);
    else if (code < 0x7f) expect(mayHoldHidden(JSON.stringify({ text })), text).toBe(false);
  }
  expect(mayHoldHidden(JSON.stringify({ text: `a${"\u0301".repeat(11)}` }))).toBe(true);
  expect(mayHoldHidden(JSON.stringify({ text: `a${"\u0301".repeat(10)}, ä, 中` }))).toBe(false);
});
