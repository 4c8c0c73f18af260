import { expect, test } from "vitest";
import { toFilePath } from "./file-path.ts";

test.each([
  ["a.txt", "a.txt"],
  ["./a//b/./c.txt", "a/b/c.txt"],
  ["/tmp/a", "tmp/a"],
  ["a..b/...", "a..b/..."],
])("converts %s to the path %s", (given, path) => {
  expect(toFilePath(given)).toBe(path);
});

test.each([[""], ["."], ["/"], ["../a"], ["a/../../b"], ["a\0b"], ["a\\b"], ["x".repeat(256)], [7], [undefined]])(
  "rejects %s as a path",
  (given) => {
    expect(toFilePath(given)).toBeUndefined();
  },
);
