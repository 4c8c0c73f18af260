import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../test/support/random.ts";
import { findInvalidHeader, findMediaType } from "./header-value.ts";

const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;

describe("findInvalidHeader", () => {
  test("accepts exactly the characters of a field value, and returns the header's name otherwise", () => {
    for (let code = 0; code <= 0x2030; code += 1) {
      const value = `a${String.fromCharCode(code)}b`;
      expect(findInvalidHeader(["x-one", "1", "x-two", value]), String(code)).toBe(
        FORBIDDEN.test(value) ? "x-two" : undefined,
      );
    }
  });

  test.each(["", "a b", "a:", "a\r\nb", "é", "a\0"])("rejects the name %j", (name) => {
    expect(findInvalidHeader([name, "1"])).toBe(name);
  });

  test.each(["a", "X-Y", "mcp-session-id", "!#$%&'*+-.^_`|~"])("accepts the name %j", (name) => {
    expect(findInvalidHeader([name, ""])).toBeUndefined();
  });
});

describe("findMediaType", () => {
  test.each(["text/html", "application/vnd.a+json; q=1", 'a/b;c="d;e"', "A/B ; c=d"])("returns %s", (type) => {
    expect(findMediaType(type)).toBe(type);
  });

  test.each(["", "text", "text/", "/html", "a/b;", "a/b; c", 'a/b; c="d', "a/b c", 'a/b; c="\\""', 7, null, undefined])(
    "returns undefined for %j",
    (type) => {
      expect(findMediaType(type)).toBeUndefined();
    },
  );

  test("returns only valid header values, for 20,000 texts from seed 20261128", () => {
    const { below, pick } = createRandom(20_261_128);
    const parts = [
      "text/a",
      "text",
      "/",
      ";",
      "=",
      '"',
      " ",
      "\t",
      "\r\n",
      "\0",
      "\x7f",
      "é",
      "中",
      "\ud800",
      "b",
      "\v",
    ];
    let accepted = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const type = findMediaType(Array.from({ length: 1 + below(7) }, () => pick(parts)).join(""));
      if (type === undefined) continue;
      accepted += 1;
      expect(findInvalidHeader(["content-type", type]), JSON.stringify(type)).toBeUndefined();
    }
    expect(accepted).toBeGreaterThan(100);
  });
});
