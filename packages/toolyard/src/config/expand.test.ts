import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../test/fixtures/cpu-time.ts";
import { expandTree, takenInto } from "./expand.ts";

/** Reference implementation with one pattern for the whole text: correct for every text, but in quadratic time. */
const WHOLE =
  /\$\$\{|\$\{(?:(?<scheme>env):)?(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,255})(?::-(?<fallback>[^}]{0,8192}))?\}/g;

const VARIABLES = { A: "one", b_1: "two" };
const context = { variables: VARIABLES, folder: "/" };

test("expands random text like one regular expression over the whole text", async () => {
  const piece = fc.constantFrom("$", "${", "$${", "}", "A", "b_1", "env:", ":-", "none", " ", "é", "{");
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => {
      const text = pieces.join("");
      const expected = text.replaceAll(WHOLE, (...parts: unknown[]) => {
        const { name, fallback } = parts.at(-1) as { readonly name?: string; readonly fallback?: string };
        if (name === undefined) return "${";
        return (VARIABLES as Readonly<Record<string, string>>)[name] ?? fallback ?? "missing";
      });
      await expect(expandTree(text, context).catch(() => "missing")).resolves.toSatisfy(
        (expanded: unknown) => expanded === expected || (expanded === "missing" && expected.includes("missing")),
      );
    }),
    { seed: 31, numRuns: 2000 },
  );
});

test.each([
  "${e:-t".repeat(30_000),
  `${"${e:-t".repeat(30_000)}}`,
  "${file:".repeat(30_000),
  `${"${".repeat(90_000)}}`,
  "$${".repeat(60_000),
  `\${A:-${"x".repeat(200_000)}}`,
])("expands adversarial text in linear time", async (text) => {
  const startedAt = cpuMs();
  await expandTree(text, context).catch(() => "");
  takenInto(text);
  expect(cpuMs() - startedAt).toBeLessThan(2500);
});

test("reads a fallback of 8192 characters, and keeps a longer one as plain text", async () => {
  const of = (length: number) => expandTree(`\${none:-${"x".repeat(length)}}`, context);
  expect(await of(8192)).toBe("x".repeat(8192));
  expect(await of(8193)).toMatch(/^\$\{none:-x+\}$/);
});
