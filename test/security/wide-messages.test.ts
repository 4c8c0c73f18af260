// Messages of servers with more keys, objects and lists than any caller needs: they fail the call that they answer, and
// delay no other call while they are read.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { watchLoop } from "../support/loop-stalls.ts";
import { openTarget, type Target } from "./attack.ts";

const SERVER = fileURLToPath(new URL("wide-server.mjs", import.meta.url));
/** Without the limit, each of these took seconds in one turn of the event loop. */
const LONGEST_TURN_MS = 500;

let http: ChildProcess;
let target: Target;

beforeAll(async () => {
  http = spawn(process.execPath, [SERVER, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(http.stdout!, "data")) as [Buffer];
  const url = `http://127.0.0.1:${String(port).trim()}/mcp`;
  target = await openTarget({
    limits: { max_result_bytes: "30MB" },
    mcp: {
      stdio_servers: { line: { command: [process.execPath, SERVER] } },
      remote_servers: [
        { namespace: "far", url },
        { namespace: "few", url, max_message_parts: 1000 },
      ],
    },
  });
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  http.kill();
});

const WAYS: readonly [string, string, JsonObject][] = [
  ["stdio", "line__wide", {}],
  ["HTTP", "far__wide", {}],
  ["a stream of HTTP", "far__wide", { as: "events" }],
];

describe.each(WAYS)("over %s", (_, name, way) => {
  test.each([
    ["keys of one object", { kind: "keys" }],
    ["keys of many objects", { kind: "rows" }],
    ["empty objects", { kind: "objects" }],
    ["empty lists", { kind: "lists" }],
    ["keys in `_meta`", { kind: "keys", where: "meta" }],
    ["keys in `_meta` of a block", { kind: "keys", where: "block" }],
    ["keys in the data of an error", { kind: "keys", where: "error" }],
    ["keys beside the result", { kind: "keys", where: "beside" }],
  ])("S4: refuses 16 MB of %s with the limit's name and keeps serving", async (_what, made) => {
    using watch = watchLoop();
    const outcome = await target.hub.call(name, { ...way, ...made, bytes: 16_000_000 });
    const longest = watch.longestMs();
    expect(outcome).toMatchObject({
      ok: false,
      kind: "too_large",
      message: expect.stringMatching(/600000 keys, objects and lists.*`max_message_parts`/),
    });
    expect(longest).toBeLessThan(LONGEST_TURN_MS);
  });

  test("S4: continues to call the server, and passes 16 MB of text with structural characters", async () => {
    const outcome = await target.hub.call(name, { ...way, kind: "texts", bytes: 16_000_000 });
    expect(outcome.ok ? "passed" : outcome.message).toBe("passed");
  });

  test("S4: accepts 400,000 keys in rows, and one object of 100,000 keys", async () => {
    for (const made of [
      { kind: "rows", count: 400_000 },
      { kind: "keys", count: 100_000 },
    ]) {
      const outcome = await target.hub.call(name, { ...way, ...made });
      expect(outcome.ok ? "passed" : outcome.message).toBe("passed");
    }
  });
});

test("S4: applies a source's own limit to that source only", async () => {
  const args = { kind: "lists", count: 1500 };
  expect(await target.hub.call("few__wide", args)).toMatchObject({
    kind: "too_large",
    message: expect.stringContaining("1000 keys, objects and lists"),
  });
  expect(await target.hub.call("far__wide", args)).toMatchObject({ ok: true });
  expect(await target.hub.call("few__wide", { kind: "lists", count: 900 })).toMatchObject({ ok: true });
});

test("S4: a batch of a million values that are not messages fails only its own call", async () => {
  using watch = watchLoop();
  const batch = { kind: "objects", where: "batch", count: 1_000_000 };
  const refused = await target.hub.call("far__wide", batch);
  expect(refused).toMatchObject({ kind: "too_large" });
  expect(watch.longestMs()).toBeLessThan(LONGEST_TURN_MS);
});
