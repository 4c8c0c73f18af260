import { expect, test } from "vitest";
import { runKills } from "./kill-run.ts";

const SEED = 20260728;

test(
  "gives every call one outcome in time while children and a remote are killed, and leaks nothing",
  { timeout: 300_000 },
  async () => {
    const report = await runKills({ kills: 50, seed: SEED });
    expect(report.problems, JSON.stringify(report)).toEqual([]);
    expect(Object.keys(report.victims)).toEqual(["remote", "script", "stdio"]);
    expect(report.childrenAfterClose).toBe(0);
  },
);
