import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages/toolyard/src");
// Options that only programs set, not configurations, so they have no schema.
const WITHOUT_SCHEMA = ["client-options.ts"];

const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => /(?:^|[\\/-])options\.ts$/.test(file) && !WITHOUT_SCHEMA.includes(basename(file)))
  .map((file) => ({ file, text: readFileSync(join(src, file), "utf8") }));

test("finds the option files of the parts", () => {
  expect(files.length).toBeGreaterThan(20);
});

/** Patterns of a default or unit outside of a schema: `= 5` in a pattern, `raw.x ?? 5`, or a unit parsed by hand. */
const BY_HAND = [
  /\b(?:raw|config|given)\??\.\w+ \?\? /g,
  /[{,]\s*(?:\w+: )?\w+ = (?:"|\[\]|\{\}|true\b|false\b|\d)[^}]*\}(?:: \w+Config|\s*= (?:raw|config|options)\b)/g,
  /\bparse(?:Duration|Bytes)\(/g,
];

test.each(files)("$file leaves defaults and units to its schema", ({ text }) => {
  const found = BY_HAND.flatMap((pattern) => text.match(pattern) ?? []);
  expect(found).toEqual([]);
});

test("detects a default that is written by hand", () => {
  const lines = [
    "resolve({ jsonrpc = true, legacy = false }: DoorConfig = {})",
    "wait: raw.wait ?? 5,",
    'parseBytes("4")',
  ];
  expect(lines.map((line) => BY_HAND.filter((pattern) => line.match(pattern)).length)).toEqual([1, 1, 1]);
});
