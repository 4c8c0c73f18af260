import { describe, expect, test } from "vitest";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import { holdsInvisible, safeToShow, withoutHidden, withoutTags } from "./hidden-text.ts";

const ENGLAND = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

describe("prose", () => {
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
  ])("%s stays as it is", (_name, text) => {
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
  ])("%s goes", (_name, text, rest) => {
    expect(withoutHidden(text)).toBe(rest);
    expect(holdsInvisible(text)).toBe(true);
  });

  test("controls go from prose, and are told of data by nobody: JSON shows them", () => {
    expect(withoutHidden("a\u001b[31mb\u0007")).toBe("a[31mb");
    expect(holdsInvisible("x\u0007y")).toBe(false);
  });

  test("a hundred thousand hidden characters, or joiners in a row, take no time to speak of", () => {
    const before = cpuMs();
    expect(withoutHidden("\u200d".repeat(100_000))).toBe("");
    expect(withoutHidden("\u{1f3fd}\u200d".repeat(50_000))).toHaveLength(100_000);
    expect(cpuMs() - before).toBeLessThan(2000);
  });
});

describe("results", () => {
  test("tag letters go, those of a flag and every other character stay", () => {
    expect(withoutTags(`a\u{e0041}\u{e007f}b ${ENGLAND} \u200b\u2764\ufe0f`)).toBe(`ab ${ENGLAND} \u200b\u2764\ufe0f`);
  });

  test("words behind a flag's beginning are no flag", () => {
    const words = Array.from("ignore all", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    expect(withoutTags(`\u{1f3f4}${words}\u{e007f}`)).toBe("\u{1f3f4}");
    expect(withoutTags(`\u{1f3f4}${words}`)).toBe("\u{1f3f4}");
  });
});

test("what is shown to people holds no escape and turns no writing; lines and tabs stay", () => {
  expect(safeToShow("a\u001b[2Jb\u009b1mc\u202ed\u2066e\u200ff\ng\th")).toBe("a[2Jb1mcdef\ng\th");
});
