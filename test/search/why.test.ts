// `toolyard search --why` in a user's shell.
import { beforeAll, expect, test } from "vitest";
import { Desk, type Ran } from "../cli/harness.ts";

const QUERY = ["is", "the", "server", "alive"];
const runs: Record<string, Ran> = {};

beforeAll(async () => {
  await using at = await Desk.create({ "toolyard.toml": "[search]\nembedding_wait_ms = 60000\n" });
  for (const [name, more] of Object.entries({ plain: [], why: ["--why"], json: ["--why", "--json"] }))
    runs[name] = await at.run(["search", ...QUERY, ...more]);
  runs["exact"] = await at.run(["search", "meta.ping", "--why", "--limit", "1"]);
}, 60_000);

const linesOf = (name: string): string[] => runs[name]!.stdout.trim().split("\n");

test("a table explains each hit, and its parts add up to the score", () => {
  const [head, ...rows] = linesOf("why");
  expect(runs["why"]).toMatchObject({ code: 0, stderr: "" });
  expect(head!.trim().toLowerCase().split(/\s+/)).toEqual([
    "score",
    "words",
    "meaning",
    "neighbours",
    "server",
    "tool",
  ]);
  for (const row of rows.filter((line) => /^\s*[01]\.\d\d\s/.test(line))) {
    const [score, ...parts] = row.trim().split(/\s+/).slice(0, 5).map(Number);
    const sum = parts.reduce((total, part) => total + part, 0);
    expect(score).toBeCloseTo(0.99 * (1 - Math.exp(-sum)), 1);
  }
  expect(rows.some((row) => row.endsWith("meta.ping"))).toBe(true);
});

test("prints no parts of the score without --why", () => {
  expect(linesOf("plain")[0]!.trim().toLowerCase().split(/\s+/)).toEqual(["score", "tool", "description"]);
});

test("as JSON each hit has the parts by name", () => {
  const { hits } = JSON.parse(runs["json"]!.stdout) as { hits: { why: Record<string, number> }[] };
  expect(hits.length).toBeGreaterThan(0);
  for (const { why } of hits) expect(Object.keys(why)).toEqual(["words", "meaning", "neighbours", "server"]);
});

test("the score of an exact name has only one part", () => {
  expect(linesOf("exact")[2]!.trim().split(/\s+/)).toEqual(["1.00", "0.00", "0.00", "0.00", "0.00", "meta.ping"]);
});
