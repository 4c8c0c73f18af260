import { expect, test } from "vitest";
import { splitUriPrefix, withUriPrefix } from "./uri-prefix.ts";

test.each([
  ["file:///a", "two+file:///a"],
  ["mailto:x@y", "two+mailto:x@y"],
  ["foo", "two+foo"],
  ["git+https://host/x", "two+git+https://host/x"],
  ["{scheme}://x", "two+{scheme}://x"],
  ["ui://panel", "ui://two+panel"],
  ["UI://Panel/a", "UI://two+Panel/a"],
  ["ui:panel", "ui:two+panel"],
  ["ui://{page}", "ui://two+{page}"],
  ["uix://panel", "two+uix://panel"],
])("adds a prefix to %j and removes it", (own, prefixed) => {
  expect(withUriPrefix("two+", own)).toBe(prefixed);
  expect(splitUriPrefix(prefixed)).toEqual({ prefix: "two+", own });
});

test("an empty prefix does not change the URI", () => {
  expect(withUriPrefix("", "ui://panel")).toBe("ui://panel");
});

test.each(["file:///a+b", "ui://panel", "ui://panel/a+b", "2+x://y", "+x", "", "a b+c"])(
  "finds no prefix in %j",
  (uri) => {
    expect(splitUriPrefix(uri)).toBeUndefined();
  },
);
