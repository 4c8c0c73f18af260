import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HashChain, readLink } from "./hash-chain.ts";
import { ChainVerifier } from "./verify-chain.ts";

function chained(count: number, { key, after }: { readonly key?: string; readonly after?: string } = {}): string[] {
  const chain = new HashChain(after, key);
  return Array.from({ length: count }, (_, index) =>
    chain.append(JSON.stringify({ event: "call", target: `t${index}` })),
  );
}

function problems(lines: readonly string[], key?: string): readonly string[] {
  const verifier = new ChainVerifier(key);
  for (const [index, line] of lines.entries()) verifier.add(line, "audit.jsonl", index + 1);
  return verifier.report().findings.map(({ line, problem }) => `${line}: ${problem}`);
}

describe("unchanged audit", () => {
  test("is intact, and every line is JSON with its own members", () => {
    const lines = chained(5);
    expect(problems(lines)).toEqual([]);
    expect(JSON.parse(lines[2]!)).toMatchObject({ event: "call", target: "t2", seq: 3 });
  });

  test("is intact across a restart: the next chain refers to the last line", () => {
    const first = chained(3);
    expect(problems([...first, ...chained(2, { after: readLink(first[2]!)!.hash })])).toEqual([]);
  });

  test("is intact if two processes write to one file alternately", () => {
    const [one, two] = [chained(3), chained(3)];
    expect(problems([one[0]!, two[0]!, one[1]!, one[2]!, two[1]!, two[2]!])).toEqual([]);
  });

  test("is intact if retention removed its first lines", () => {
    expect(problems(chained(6).slice(3))).toEqual([]);
  });

  test("is intact only with the same key", () => {
    const lines = chained(3, { key: "a-long-key-for-hashes" });
    expect(problems(lines, "a-long-key-for-hashes")).toEqual([]);
    expect(problems(lines, "another-key-for-hashes")).not.toEqual([]);
    expect(problems(lines)).not.toEqual([]);
  });
});

describe("changed audit", () => {
  test.each<[string, (lines: string[]) => string[], RegExp]>([
    ["a changed value", (lines) => lines.with(2, lines[2]!.replace("t2", "t9")), /^3: was changed/],
    ["a removed line", (lines) => lines.toSpliced(2, 1), /^3: follows a missing line/],
    ["two removed lines", (lines) => lines.toSpliced(1, 2), /^2: follows 2 missing lines/],
    ["a repeated line", (lines) => lines.toSpliced(3, 0, lines[2]!), /^4: is repeated or out of order/],
    ["exchanged lines", (lines) => [lines[0]!, lines[2]!, lines[1]!, lines[3]!], /^2: follows a missing line/],
    ["a line without a chain", (lines) => lines.toSpliced(2, 0, '{"event":"call"}'), /^3: has no chain/],
    [
      "a changed hash",
      (lines) => lines.with(1, lines[1]!.replace(/[\da-f]{64}"\}$/, `${"a".repeat(64)}"}`)),
      /^2: was/,
    ],
    [
      "a forged line of a chain of its own",
      (lines) => [...lines, chained(1, { after: "b".repeat(64) })[0]!],
      /^5: follows a line that is missing/,
    ],
  ])("with %s is detected", (_title, change, problem) => {
    expect(problems(change(chained(4)))[0]).toMatch(problem);
  });

  test("with any change of one character is detected", () => {
    const lines = chained(4);
    const place = fc.record({ line: fc.nat(3), at: fc.nat(400), character: fc.constantFrom(...'0aZ"{}:,\\') });
    fc.assert(
      fc.property(place, ({ line, at, character }) => {
        const text = lines[line]!;
        const index = at % text.length;
        fc.pre(text[index] !== character);
        const changed = text.slice(0, index) + character + text.slice(index + 1);
        expect(problems(lines.with(line, changed))).not.toEqual([]);
      }),
      { seed: 38, numRuns: 500 },
    );
  });
});

test("a file without a chain has no finding, and its lines are counted", () => {
  const verifier = new ChainVerifier();
  verifier.add('{"event":"call"}', "a", 1);
  expect(verifier.report()).toEqual({ lines: 1, unchained: 1, chains: 0, findings: [] });
});
