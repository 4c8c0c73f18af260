import { expect, test } from "vitest";
import { differencesOf, KNOWN } from "../../scripts/partners/compare.mjs";
import { lackOf } from "../../scripts/partners/versions.mjs";

const ENTRY = { client: "python-2", server: "rmcp", transport: "stdio", era: "legacy", scenario: "whole" };

test("ignores equal observations of both runs, and the order of capabilities", () => {
  const seen = { quick: "quick: one", change: { heard: true }, opened: { capabilities: ["tools", "prompts"] } };
  expect(differencesOf(ENTRY, seen, { ...seen, opened: { capabilities: ["prompts", "tools"] } })).toEqual([]);
});

test("reports a message that one run lacks, or that differs, as a difference without a reason", () => {
  expect(
    differencesOf(ENTRY, { tools: ["a", "b"], change: { heard: true } }, { tools: ["b", "a"], change: {} }),
  ).toEqual([
    { path: "tools", direct: '["a","b"]', hub: '["b","a"]', reason: undefined },
    { path: "change.heard", direct: "true", hub: "(absent)", reason: undefined },
  ]);
});

test("adds the reason of a known difference only in the cases for which it is known", () => {
  const versions = [{ opened: { version: "2025-11-25" } }, { opened: { version: "2026-07-28" } }] as const;
  expect(differencesOf({ ...ENTRY, era: "modern" }, ...versions)[0]?.reason).toMatch(/newer revision/u);
  expect(differencesOf(ENTRY, ...versions)[0]?.reason).toBeUndefined();
});

test("each known difference names place and reason", () => {
  expect(KNOWN.filter(({ paths, reason }) => paths.length === 0 || reason.length < 20)).toEqual([]);
});

test("accepts a toolchain that is new enough", () => {
  expect(lackOf({ command: "go", wanted: "1.25.5" }, "go version go1.26.0 linux/amd64")).toBeUndefined();
  expect(lackOf({ command: "cargo", wanted: "1.88" }, "cargo 1.88.0 (abc 2026-03-21)")).toBeUndefined();
});

test("names a missing or outdated toolchain with the required version", () => {
  expect(lackOf({ command: "go", wanted: "1.25.5" }, "go version go1.19 linux/amd64")).toBe(
    "go >= 1.25.5 wanted, 1.19 found",
  );
  expect(lackOf({ command: "cargo", wanted: "1.88" }, undefined)).toBe("cargo >= 1.88 wanted, none found");
});
