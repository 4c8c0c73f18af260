import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BusyProcessor } from "../../../../../test/fixtures/busy-processor.ts";
import { WITHOUT_WAITING_MS } from "../../../../../test/fixtures/cpu-time.ts";
import { fixture, heard, isAlive, run } from "../../../../../test/fixtures/upstreams/harness.ts";

const legacy = fixture("legacy");
const bothEras = fixture("both-eras");

test("L50: starts, lists and calls a server on stdio, and keeps unknown members in both directions", async () => {
  await using server = run(legacy);
  const listing = await server.listing();
  expect(listing.tools.find((tool) => tool.name === "echo")?.definition).toMatchObject({ "x-unknown": { kept: true } });
  expect(listing.instructions).toBe("Use it well.");
  const outcome = await server.call("echo", { a: 1 }, { meta: { "own/key": 1 }, params: { "x-extra": 2 } });
  expect(outcome).toMatchObject({
    ok: true,
    result: { structuredContent: { args: { a: 1 } }, _meta: { "x-own": 1 }, unknownMember: true },
  });
  expect(await server.json("echo", {}, { meta: { "own/key": 1 } })).toMatchObject({ meta: { "own/key": 1 } });
});

test("R11: sends unique and increasing request ids, and initialized before everything else", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const { log } = (await server.json("seen")) as { log: { id?: number; method?: string }[] };
  const ids = log.flatMap(({ id }) => (id === undefined ? [] : [id]));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(ids).size).toBe(ids.length);
  // A server that is slow to start receives a ping first.
  const methods = log.flatMap(({ method }) => (method === undefined || method === "ping" ? [] : [method]));
  expect(methods.slice(0, 3)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
});

test("delivers progress in 200 of 200 calls, also together with the answer", async () => {
  await using server = run(legacy);
  const finals: unknown[] = [];
  for (let round = 0; round < 200; round += 1) {
    let last: unknown;
    await server.text("progress", { steps: 3 }, { onNotice: ({ params }) => void (last = params["progress"]) });
    finals.push(last);
  }
  expect(finals.filter((last) => last === 3)).toHaveLength(200);
});

test("keeps the members of progress, drops the hub's token, and sends none unless requested", async () => {
  await using server = run(legacy);
  const notifications: unknown[] = [];
  await server.text("progress", { steps: 1 }, { onNotice: (notification) => void notifications.push(notification) });
  await server.text(
    "progress",
    { steps: 1 },
    { onNotice: (notification) => void notifications.push(notification), wants: { progress: false } },
  );
  expect(notifications).toEqual([{ method: "notifications/progress", params: { progress: 1, total: 1, own: "kept" } }]);
});

test("drops progress after the answer", async () => {
  await using server = run(legacy);
  const notifications: unknown[] = [];
  await server.text("late-progress", {}, { onNotice: (notification) => void notifications.push(notification) });
  await server.text("echo");
  expect(notifications).toEqual([]);
});

test("resets the idle time of a call after progress", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const touched: number[] = [];
  await server.text("progress", { steps: 2 }, { idleMs: 5000, onNotice: () => void touched.push(1) });
  expect(touched).toHaveLength(2);
});

test("answers a running call immediately when the child dies, and serves the next call with a new one", async () => {
  await using server = run(legacy);
  const before = await server.text("pid");
  const startedAt = performance.now();
  const outcome = await server.call("die");
  expect(performance.now() - startedAt).toBeLessThan(WITHOUT_WAITING_MS);
  expect(outcome).toMatchObject({ ok: false, kind: "unavailable", details: { sent: true, exitCode: 7 } });
  expect(await server.text("pid")).not.toBe(before);
  expect(server.provider.status()).toMatchObject({ state: "ready", restarts: 1 });
});

test("shows the last stderr lines of a dead child in the log and the status, not in the answer", async () => {
  await using server = run(legacy);
  const outcome = await server.call("die");
  expect(JSON.stringify(outcome)).not.toContain("/secret/path");
  expect(
    server.lines.all.find(({ level, facts }) => level === "warning" && JSON.stringify(facts).includes("/secret/path")),
  ).toBeDefined();
  expect(server.provider.status().stderr?.join()).toContain("about to die");
});

test("restarts a child that died while idle, without a call", async () => {
  await using server = run(legacy);
  const pid = Number(await server.text("pid"));
  const settled = heardConnected(server.lines.all.length, server);
  process.kill(pid, "SIGKILL");
  await settled;
  expect(server.provider.status()).toMatchObject({ state: "ready", restarts: 1 });
  expect(await server.text("pid")).not.toBe(String(pid));
});

test("ends a hanging call at its deadline, notifies the server, and continues other calls", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const hanging = server.call("hang", {}, { idleMs: 200 });
  expect(await server.text("pid")).toMatch(/^\d+$/);
  expect(await hanging).toMatchObject({ ok: false, kind: "timeout" });
  const { log } = (await server.json("seen")) as { log: { method?: string; params?: object }[] };
  expect(log.filter(({ method }) => method === "notifications/cancelled")).toMatchObject([
    { params: { reason: "timeout" } },
  ]);
});

test("ends a cancelled call as cancelled, and notifies the server", async () => {
  await using server = run(legacy);
  const controller = new AbortController();
  expect(
    await server.call("linger", {}, { signal: controller.signal, onNotice: () => controller.abort() }),
  ).toMatchObject({ ok: false, kind: "cancelled" });
  const { log } = (await server.json("seen")) as { log: { method?: string; params?: object }[] };
  expect(log.filter(({ method }) => method === "notifications/cancelled")).toHaveLength(1);
});

test("ignores noise, incomplete lines and text before a message on stdout, and logs them once", async () => {
  await using server = run(legacy, ["noise"]);
  expect(await server.text("pid")).toMatch(/^\d+$/);
  expect(server.lines.faults()).toEqual(["not-json"]);
});

test("R14: reads more than 64 KiB on stderr before the first answer without hanging", async () => {
  await using server = run(legacy, ["stderr-flood"]);
  expect(await server.text("pid")).toMatch(/^\d+$/);
  expect(await server.text("stderr", { lines: 5000 })).toBe("flooded");
  expect(server.provider.status().stderr?.length).toBeLessThanOrEqual(40);
  expect(server.lines.all.filter(({ message }) => message === "stderr").length).toBeLessThan(1000);
});

test("delivers answers sent twice, with wrong ids or with text ids to the right call or to none", async () => {
  await using server = run(legacy);
  expect(await server.text("twice")).toBe("first");
  expect(await server.text("wrong-id")).toBe("right");
  expect(await server.text("text-id")).toBe("text id");
  expect(await server.text("echo")).toContain("args");
  expect(server.lines.faults().toSorted()).toEqual(["answered-twice", "id-as-text", "unknown-id"]);
});

test("delivers answers in any order to their calls", async () => {
  await using server = run(legacy);
  await server.text("echo");
  expect(await Promise.all([server.text("reorder", { n: 1 }), server.text("reorder", { n: 2 })])).toEqual(["1", "2"]);
});

test("reports incomplete answers, non-objects and content of the wrong type as malformed immediately", async () => {
  await using server = run(legacy);
  expect(await server.call("half")).toMatchObject({ ok: false, kind: "malformed" });
  expect(await server.call("nonsense")).toMatchObject({ ok: false, kind: "malformed" });
  expect(await server.call("no-content")).toMatchObject({ ok: false, kind: "malformed" });
  expect(await server.text("pid")).toMatch(/^\d+$/);
});

test("reports an answer of 50 MB as too large, and serves the next call with the same child", async () => {
  await using server = run(legacy);
  const pid = await server.text("pid");
  const outcome = await server.call("big", { bytes: 50_000_000 }, { idleMs: 20_000 });
  expect(outcome).toMatchObject({ ok: false, kind: "too_large" });
  expect(await server.text("pid")).toBe(pid);
  expect((await server.text("big", { bytes: 5_000_000 })).length).toBe(5_000_000);
});

test("reads a batch of messages on one line one by one", async () => {
  await using server = run(legacy);
  const notifications: unknown[] = [];
  expect(await server.text("batch", {}, { onNotice: ({ params }) => void notifications.push(params["data"]) })).toBe(
    "in a batch",
  );
  expect(notifications).toEqual(["batched"]);
});

test("keeps code and data of protocol errors, recognizes an unknown tool by text, and keeps isError", async () => {
  await using server = run(legacy);
  expect(await server.call("error")).toMatchObject({
    ok: false,
    kind: "tool_error",
    rpcError: { code: -32050, message: "own error", data: { why: "because" } },
  });
  expect(await server.call("unknown")).toMatchObject({ ok: false, kind: "unknown_tool", rpcError: { code: -32602 } });
  expect(await server.call("is-error")).toMatchObject({
    ok: false,
    kind: "tool_error",
    message: "it failed",
    result: { isError: true },
  });
  expect(await server.call("elicit-url")).toMatchObject({
    ok: false,
    rpcError: { code: -32042, data: { elicitations: [{ elicitationId: "e1" }] } },
  });
});

test("reports a server that exits immediately as down with a reason, and a call does not wait", async () => {
  await using server = run(legacy, ["dies-at-start"]);
  expect((await server.listing()).tools).toEqual([]);
  expect(await server.call("echo")).toMatchObject({ ok: false, kind: "unavailable", retryable: true });
  expect(server.provider.status()).toMatchObject({
    state: "down",
    stderr: expect.arrayContaining(["missing module: left-pad"]),
  });
});

test("reports a missing command in the status and in a clear answer", async () => {
  await using server = run(legacy, [], { options: { command: ["no-such-program-here"] } });
  expect((await server.listing()).tools).toEqual([]);
  const outcome = await server.call("echo");
  expect(outcome).toMatchObject({ ok: false, kind: "unavailable" });
  expect(outcome.ok ? "" : outcome.message).toContain("no-such-program-here");
});

test("ends a server that never finishes starting at its time limit", async () => {
  await using server = run(legacy, ["never-starts"], { options: { connect_timeout: "400ms" } });
  const outcome = await server.call("echo");
  expect(outcome).toMatchObject({ ok: false, kind: "unavailable" });
  expect(outcome.ok ? "" : outcome.message).toContain("did not finish starting within 0.4 s");
});

describe.runIf(process.platform === "linux")("on a busy machine", () => {
  let busy: BusyProcessor;
  beforeAll(async () => void (busy = await BusyProcessor.start()));
  afterAll(() => busy[Symbol.dispose]());

  test("waits longer than the limit for a server that works during its start", async () => {
    const command = busy.command(process.execPath, legacy, "computes-ms=9000");
    await using server = run(legacy, [], { options: { command, connect_timeout: "6s" } });
    expect(await server.text("pid", {}, { idleMs: 60_000 })).toMatch(/^\d+$/);
  });

  test("ends a sleeping server at its time limit", async () => {
    const command = busy.command(process.execPath, legacy, "start-ms=600000");
    await using server = run(legacy, [], { options: { command, connect_timeout: "2s" } });
    const outcome = await server.call("pid", {}, { idleMs: 60_000 });
    expect(outcome.ok ? "" : outcome.message).toContain("did not finish starting within 2 s");
  });
});

test("starts a third server without delay while two never finish starting", async () => {
  await using first = run(legacy, ["never-starts"]);
  await using second = run(legacy, ["never-starts"]);
  await using third = run(legacy);
  const startedAt = performance.now();
  expect(await third.text("pid")).toMatch(/^\d+$/);
  expect(performance.now() - startedAt).toBeLessThan(WITHOUT_WAITING_MS);
  expect([first, second].map(({ provider }) => provider.status().state)).toEqual(["starting", "starting"]);
});

test("restarts a server without the probe if it exits on the probe", async () => {
  await using server = run(legacy, ["dies-at-probe"]);
  expect(await server.text("pid")).toMatch(/^\d+$/);
  expect(server.provider.status().info).toMatchObject({ era: "legacy" });
});

test("sends initialize to the same child if a server ignores the probe", async () => {
  await using server = run(legacy, ["silent"]);
  const { log } = (await server.json("seen")) as { log: { method?: string }[] };
  expect(log.flatMap(({ method }) => method ?? []).slice(0, 3)).toEqual(["server/discover", "ping", "initialize"]);
});

test.each([
  ["at once", 0],
  ["after the probe was taken for ignored", 2500],
])("uses the modern era with a server of both eras that starts %s", async (_when, startMs) => {
  await using server = run(bothEras, [String(startMs)]);
  expect(await server.text("era", {}, { client: { era: "modern", capabilities: {} } })).toBe("modern");
  expect(server.provider.status().info).toMatchObject({ era: "modern" });
});

test("starts a slow server of both eras only once", async () => {
  const record = join(await mkdtemp(join(tmpdir(), "toolyard-starts-")), "pids");
  await using server = run(bothEras, ["2500", record]);
  await server.text("era", {}, { client: { era: "modern", capabilities: {} } });
  expect((await readFile(record, "utf8")).trim().split("\n")).toHaveLength(1);
});

test("keeps the detected era over a restart, without a second probe", async () => {
  await using server = run(legacy);
  await server.call("die");
  const { log } = (await server.json("seen")) as { log: { method?: string }[] };
  expect(log[0]).toMatchObject({ method: "initialize" });
});

test("R4: ends the child and answers running calls on closing", async () => {
  const server = run(legacy);
  const pid = Number(await server.text("pid"));
  const hanging = server.call("hang");
  await server.provider.close();
  expect(await hanging).toMatchObject({ ok: false, kind: "unavailable" });
  expect(isAlive(pid)).toBe(false);
  expect(server.provider.status().state).toBe("closed");
  expect(await server.call("echo")).toMatchObject({ ok: false, kind: "unavailable" });
});

test("leaves no child after closing during the start", async () => {
  const server = run(legacy, ["never-starts"]);
  const opened = server.call("echo");
  await server.provider.close();
  expect(await opened).toMatchObject({ ok: false, kind: "unavailable" });
  expect(server.provider.status().state).toBe("closed");
});

test("sends log messages of a call to its caller, and others as events of the source", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const outside = heard(server.provider.events.log);
  const notifications: unknown[] = [];
  await server.text("log", {}, { onNotice: (notification) => void notifications.push(notification) });
  expect(notifications).toEqual([
    { method: "notifications/message", params: { level: "info", data: "during the call" } },
  ]);
  expect(await outside).toEqual({ params: { level: "info", data: "outside a call" } });
});

test("delivers a log message to no caller during calls of several principals", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const notifications: unknown[] = [];
  const end = new AbortController();
  const other = server.call(
    "hang",
    {},
    { principal: "other", signal: end.signal, onNotice: (notification) => void notifications.push(notification) },
  );
  await server.text("log", {}, { onNotice: (notification) => void notifications.push(notification) });
  end.abort();
  await other;
  expect(notifications).toEqual([]);
});

function heardConnected(from: number, server: ReturnType<typeof run>): Promise<void> {
  return new Promise((resolve) => {
    const { lines } = server;
    const original = lines.info.bind(lines);
    lines.info = (message, facts) => {
      original(message, facts);
      if (message === "Connected." && lines.all.length > from) resolve();
    };
  });
}
