import { spawnSync } from "node:child_process";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { CheckResult } from "../../packages/toolyard/src/schema/compile.ts";
import { GuardedSchemas } from "../../packages/toolyard/src/schema/guarded-schemas.ts";
import { watchLoop } from "../support/loop-stalls.ts";
import { createRandom } from "../support/random.ts";
import { openTarget, openUpstream, say, tool, wordsOf, type Target } from "./attack.ts";
import {
  ATTACKS,
  deepValue,
  doublingRecursion,
  fillingLevels,
  properties,
  randomAttack,
  type Attack,
} from "./schema-attacks.ts";

/** A schema may delay other callers by at most 50 ms; ten times that is allowed for busy machines. */
const MAX_STALL_MS = 500;
const PLAIN = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

async function check(checks: GuardedSchemas, { schema, value }: Attack): Promise<CheckResult> {
  const guarded = checks.of(schema, "input");
  return guarded.checkHere(value) ?? guarded.checkApart(value, { source: "stranger", isGone: () => false });
}

/** Returns the longest turn of the event loop during two checks; the second compiles nothing. */
async function longestTurn(checks: GuardedSchemas, attack: Attack): Promise<number> {
  using watch = watchLoop();
  // The first use of the engine takes time that is not caused by the schema.
  await check(checks, { name: "plain", schema: PLAIN, value: { text: 1 } });
  await nextTurn();
  watch.longestMs();
  for (let round = 0; round < 2; round += 1) {
    await check(checks, attack);
    await nextTurn();
  }
  return watch.longestMs();
}

test.each(ATTACKS)("S18: $name: keeps the event loop responsive", async (attack) => {
  const checks = new GuardedSchemas();
  try {
    expect(await longestTurn(checks, attack)).toBeLessThan(MAX_STALL_MS);
  } finally {
    checks.close();
  }
});

/** Few rounds per seed, so that a slow machine finishes them in the time of one test. */
const SEEDS = Array.from({ length: 10 }, (_, at) => 31_415_926 + at * 1_000_003);

test.each(SEEDS)("S18: random hostile schemas of seed %i do not block the event loop", async (seed) => {
  const random = createRandom(seed);
  const checks = new GuardedSchemas();
  try {
    for (let round = 0; round < 16; round += 1)
      expect([round, await longestTurn(checks, randomAttack(random))]).toEqual([round, expect.toSatisfy(isShort)]);
  } finally {
    checks.close();
  }
});

function isShort(ms: number): boolean {
  return ms < MAX_STALL_MS;
}

test("S18: checks in a thread give the same results as checks on the main thread", async () => {
  const checks = new GuardedSchemas();
  const schema: JsonObject = {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", default: 3 } },
    required: ["city"],
    additionalProperties: false,
  };
  const guarded = checks.of(schema, "input");
  try {
    for (const value of [{ city: "Bonn" }, { city: 5, dys: 1 }, {}]) {
      const apart = await guarded.checkApart(value, { source: "a", isGone: () => false });
      expect(apart).toEqual(guarded.checkHere(value));
    }
  } finally {
    checks.close();
  }
});

test("S18: compiles two hundred concurrent schemas in a few turns of the event loop", async () => {
  const checks = new GuardedSchemas();
  try {
    using watch = watchLoop();
    await check(checks, { name: "plain", schema: PLAIN, value: { text: 1 } });
    await nextTurn();
    watch.longestMs();
    const all = Array.from({ length: 200 }, (_, at) =>
      check(checks, {
        name: "many",
        schema: { type: "object", ...properties(90, (index) => ({ type: "string", minLength: at + index })) },
        value: { p1: 1 },
      }),
    );
    const results = await Promise.all(all);
    expect(results.filter(({ ok }) => ok)).toEqual([]);
    expect(watch.longestMs()).toBeLessThan(MAX_STALL_MS);
  } finally {
    checks.close();
  }
});

test("S18: abandons a too expensive schema once, and recognises it by its digest", async () => {
  const checks = new GuardedSchemas();
  const schema = { type: "object", ...fillingLevels(28) };
  try {
    await check(checks, { name: "first", schema, value: {} });
    const again = checks.of(structuredClone(schema), "input");
    expect(again.checkHere({})).toBeUndefined();
    await again.checkApart({}, { source: "other", isGone: () => false });
    expect(again.verdict).toEqual({ usable: false, reason: expect.stringContaining("defaults") });
  } finally {
    checks.close();
  }
});

test("S18: rejects checks that wait for a thread when the hub closes", async () => {
  const checks = new GuardedSchemas();
  const waiting = check(checks, ATTACKS[0]!);
  checks.close();
  await expect(waiting).rejects.toMatchObject({ failure: { kind: "unavailable" } });
  await expect(check(checks, ATTACKS[0]!)).rejects.toMatchObject({ failure: { kind: "unavailable" } });
});

test("S18: lets the process exit while an unused thread exists", () => {
  const module = fileURLToPath(new URL("../../packages/toolyard/build/schema/guarded-schemas.js", import.meta.url));
  const program = `
    import { GuardedSchemas } from ${JSON.stringify(module)};
    const guarded = new GuardedSchemas().of({ $dynamicAnchor: "n",
      properties: { a: { $dynamicRef: "#n", type: "string" } } }, "input");
    const result = await guarded.checkApart({ a: 1 }, { source: "a", isGone: () => false });
    console.log(result.message);`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect([stdout.trim(), status]).toEqual(["`a` must be a string, got an integer", 0]);
});

async function openStrangers(tools: Readonly<Record<string, JsonObject>>): Promise<Target & { stop(): Promise<void> }> {
  const stranger = await openUpstream({
    tools: Object.entries(tools).map(([name, inputSchema]) => tool(name, { inputSchema })),
    answer: (method) => (method === "tools/call" ? { result: say("called") } : undefined),
  });
  const honest = await openUpstream({ tools: [tool("say", { inputSchema: PLAIN })] });
  const target = await openTarget({
    mcp: {
      remote_servers: [
        { namespace: "", url: stranger.url },
        { namespace: "honest", url: honest.url },
      ],
    },
  });
  return Object.assign(target, {
    stop: async () => {
      await target[Symbol.asyncDispose]();
      await stranger.close();
      await honest.close();
    },
  });
}

test("S18: withholds only the tool of a too expensive schema, and reports a problem", async () => {
  const target = await openStrangers({
    slow: { type: "object", ...doublingRecursion() },
    quick: { type: "object", properties: { n: { type: "integer" } } },
  });
  try {
    const client = await target.client();
    const order: string[] = [];
    const note = async (name: string, call: Promise<JsonObject>): Promise<string> => {
      const words = wordsOf(await call);
      order.push(name);
      return words;
    };
    const slow = note("slow", client.request("tools/call", { name: "slow", arguments: deepValue("x", 60) }));
    const quick = note("quick", client.request("tools/call", { name: "quick", arguments: { n: "a" } }));
    const honest = note("honest", client.request("tools/call", { name: "honest__say", arguments: { text: "a" } }));
    expect(await quick).toBe("`n` must be an integer, got a string");
    expect(await honest).toContain("say");
    expect(await slow).toBe("called");
    expect(order.at(-1)).toBe("slow");
    expect(target.hub.sources().flatMap(({ problems }) => problems)).toContainEqual(
      expect.objectContaining({ subject: "slow", message: expect.stringMatching(/cannot be used.*takes more than/) }),
    );
  } finally {
    await target.stop();
  }
});
