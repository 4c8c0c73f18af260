import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { estimateTokens, tokensOfBytes } from "./token-estimate.ts";

const DEFINITION = JSON.stringify({
  name: "files__read_text_file",
  description: "Read the complete contents of a file from the file system as text. Handles various text encodings.",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      tail: { type: "number", description: "If provided, returns only the last N lines of the file" },
    },
    required: ["path"],
    additionalProperties: false,
    $schema: "http://json-schema.org/draft-07/schema#",
  },
});

describe("an estimate", () => {
  test.each([
    ["a tool definition", DEFINITION],
    ["many tool definitions", `[${Array.from({ length: 50 }, () => DEFINITION).join()}]`],
    ["JSON with numbers", JSON.stringify(Array.from({ length: 50 }, (_, id) => ({ id, value: id * 3.14159 })))],
    ["indented JSON", JSON.stringify(JSON.parse(DEFINITION), null, 2)],
    ["English", "Returns the weather of a place for today and the following days, with temperature, wind and rain."],
    ["German", "Gibt das Wetter eines Ortes für heute und die folgenden Tage zurück, mit Temperatur und Wind."],
    ["French", "Renvoie la météo d'un lieu pour aujourd'hui et les jours suivants, avec la température et le vent."],
    ["Russian", "Возвращает погоду для места на сегодня и следующие дни, с температурой, ветром и дождём."],
    ["Chinese", "返回某地今天和未来几天的天气,包括温度、风力和降雨概率。当用户询问天气时使用。"],
    ["Japanese", "ある場所の今日とその後の天気を、気温、風、降水確率とともに返します。"],
    ["code", "export async function openFolder(path: string): Promise<ToolFolder> {\n  return await read(path);\n}\n"],
    ["identifiers", "550e8400-e29b-41d4-a716-446655440000 7c9e6679-7425-40de-944b-e07fc1f90ae7"],
  ])("of %s is within 25 %% of a real tokenizer", (_title, text) => {
    const ratio = estimateTokens(text) / encode(text).length;
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(1.25);
  });

  test.each(["", " ", "\n", "a", "🙂", "\ud800"])("of %j is at most one or two tokens", (text) => {
    expect(estimateTokens(text)).toBeLessThanOrEqual(2);
  });

  test("of any text is a whole number that is not larger than its bytes, and at least 0", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 500 }), (text) => {
        const tokens = estimateTokens(text);
        expect(Number.isInteger(tokens)).toBe(true);
        expect(tokens).toBeGreaterThanOrEqual(0);
        expect(tokens).toBeLessThanOrEqual(Math.max(2, Buffer.byteLength(text) * 2));
      }),
      { seed: 38, numRuns: 300 },
    );
  });

  test("of a long text is extrapolated from its beginning", () => {
    const piece = 'some words and {"json": 1} '.repeat(10_000);
    expect(estimateTokens(piece.repeat(20)) / estimateTokens(piece)).toBeCloseTo(20, 1);
  });

  test.each([
    [-1, 0],
    [0, 0],
    [1, 1],
    [4000, 1000],
  ])("of %s bytes of JSON is %s tokens", (bytes, tokens) => {
    expect(tokensOfBytes(bytes)).toBe(tokens);
  });
});
