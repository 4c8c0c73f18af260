import { expect, test } from "vitest";
import type { JsonObject } from "../../core/json/json.ts";
import { CheckThread, type CheckJob } from "./check-thread.ts";

const LIMITS = { start: 20_000, compile: 200, check: 200 };

function jobWith(schema: JsonObject, value: unknown): CheckJob {
  return { source: "stranger", key: "k", text: JSON.stringify(schema), fillsDefaults: false, value, items: 1 };
}

/** Blocks this thread for the given time without using the processor. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("accepts a late result of a thread that finished while the main thread was blocked", async () => {
  const thread = new CheckThread(LIMITS);
  try {
    await thread.run(jobWith({ type: "string" }, "a"), () => {});
    const running = thread.run({ ...jobWith({ type: "integer" }, "a"), key: "other" }, () => {});
    standStill(LIMITS.compile * 3);
    expect(await running).toMatchObject({ type: "checked", checked: { ok: false } });
  } finally {
    thread.end();
  }
});

test("reports a schema that a thread cannot finish in time as too slow", async () => {
  const again = { properties: { x: { $ref: "#/$defs/a" } } };
  const thread = new CheckThread(LIMITS);
  let value: JsonObject = {};
  for (let level = 0; level < 60; level += 1) value = { x: value };
  try {
    const schema = { $ref: "#/$defs/a", $defs: { a: { allOf: [again, again] } } };
    expect(await thread.run(jobWith(schema, value), () => {})).toMatchObject({ type: "overrun", of: "time" });
  } finally {
    thread.end();
  }
});
