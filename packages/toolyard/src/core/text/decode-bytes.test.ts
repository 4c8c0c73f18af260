import { describe, expect, test } from "vitest";
import { decodeBytes } from "./decode-bytes.ts";

const HIGH = Uint8Array.from({ length: 32 }, (_, at) => 0x80 + at);
/** The index of windows-1252 in the WHATWG Encoding Standard. */
const EXPECTED = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

describe("decodeBytes", () => {
  test.each(["windows-1252", "cp1252", "latin1", "iso-8859-1", "ISO-8859-1", "ascii", "us-ascii", "x-cp1252", "l1"])(
    "decodes 0x80 to 0x9F of %s as Windows-1252",
    (label) => {
      expect(decodeBytes(label, HIGH)).toBe(EXPECTED);
      expect(decodeBytes(label, HIGH, { fatal: true })).toBe(EXPECTED);
    },
  );

  test("decodes the other bytes of Windows-1252 as Latin-1, also from a part of a buffer", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    const expected = Array.from(bytes, (byte) => String.fromCharCode(byte))
      .join("")
      .replaceAll(/[\u0080-\u009f]+/g, EXPECTED);
    expect(decodeBytes("windows-1252", bytes)).toBe(expected);
    expect(decodeBytes("windows-1252", bytes.subarray(0xe0, 0xe3))).toBe("àáâ");
  });

  test.each([
    ["utf-8", [0xe2, 0x82, 0xac], "€"],
    ["windows-1250", [0x8a, 0xb3], "Šł"],
    ["windows-1251", [0x88, 0xcf], "€П"],
    ["iso-8859-2", [0xb3], "ł"],
    ["iso-8859-15", [0xa4], "€"],
    ["shift_jis", [0x82, 0xa0], "あ"],
    ["utf-16be", [0x20, 0xac], "€"],
    ["x-mac-greek", [0x41, 0xe1, 0xf6, 0xcd, 0xdb, 0xf7, 0xd2, 0xd3, 0x9c, 0xc7], "AαωΆές“”€«"],
  ])("decodes the label %s by its definition", (label, bytes, text) => {
    expect(decodeBytes(label, Uint8Array.from(bytes))).toBe(text);
  });

  test("throws for an unknown label, and for invalid bytes if `fatal` is set", () => {
    expect(() => decodeBytes("klingon", HIGH)).toThrow(RangeError);
    expect(() => decodeBytes("utf-8", HIGH, { fatal: true })).toThrow(TypeError);
    expect(decodeBytes("utf-8", HIGH.subarray(0, 1))).toBe("\ufffd");
  });
});
