// Faults of a server on stdio, seen through the whole hub. Each gives the caller one clear answer, writes one line with
// the source's name to the log, and affects no other caller.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WITHOUT_WAITING_MS } from "../fixtures/cpu-time.ts";
import { isAlive } from "../fixtures/upstreams/harness.ts";
import { FaultHub, legacyServer } from "./fault-hub.ts";

const LIST_CHANGED = "notifications/tools/list_changed";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-fault-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("names a server with a missing command and the remedy, and lists and serves it once it exists", async () => {
  const command = join(await temporaryFolder(), "late-server");
  await using hub = await FaultHub.open({ bad: { command: [command] } });
  expect(await hub.call("bad__pid")).toMatchObject({
    kind: "unavailable",
    text: expect.stringMatching(/source bad.*(Try again)/),
  });
  expect(await hub.call("bab__pid")).toMatchObject({ kind: "unknown_tool" });
  await hub.expectRestUndisturbed();
  expect(hub.log.warnings("bad")).toEqual([expect.stringMatching(/late-server.*(not|install|PATH|check)/is)]);
  expect(hub.status()).toMatchObject({ state: "down", lastError: expect.stringContaining("late-server") });

  const announced = hub.client.next(LIST_CHANGED);
  await writeFile(
    command,
    `#!/bin/sh\nexec ${legacyServer()
      .map((word) => `'${word}'`)
      .join(" ")}\n`,
  );
  await chmod(command, 0o755);
  await announced;
  expect(await hub.toolNames()).toContain("bad__pid");
  expect(await hub.text("bad__pid")).toMatch(/^\d+$/);
});

test("restarts a server that exits while idle without a call, and keeps its tools listed", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer() } });
  const pid = Number(await hub.text("bad__pid"));
  const from = hub.log.lines.length;
  process.kill(pid, "SIGKILL");
  const lost = await hub.log.warningOf("bad", from);
  expect(lost.message).toMatch(/ended by SIGKILL.*started again/);
  expect(await hub.toolNames()).toContain("bad__pid");
  await hub.expectRestUndisturbed();
  await hub.log.until(({ message, facts }) => message === "Connected." && facts["source"] === "bad", from);
  expect(hub.status()).toMatchObject({ state: "ready", restarts: 1 });
  expect(Number(await hub.text("bad__pid"))).not.toBe(pid);
  expect(hub.changesHeard()).toBe(0);
});

test("a server that exits during a call fails it immediately, and the next call is served", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer() } });
  const before = await hub.text("bad__pid");
  const reached = hub.client.next("notifications/progress");
  const running = hub.call("bad__linger", {}, { progressToken: 1 });
  await reached;
  const [died, other] = await Promise.all([hub.call("bad__die"), running, hub.expectRestUndisturbed()]);
  for (const { text, kind, elapsedMs } of [died, other]) {
    expect(kind).toBe("unavailable");
    expect(text).toMatch(/exit code 7/);
    expect(text).not.toContain("/secret/path");
    expect(elapsedMs).toBeLessThan(WITHOUT_WAITING_MS);
  }
  expect(await hub.text("bad__pid")).not.toBe(before);
  await hub.expectRestUndisturbed();
  expect(await hub.log.warningOf("bad")).toMatchObject({
    message: expect.stringMatching(/exit code 7.*started again/),
    facts: { stderr: [expect.stringContaining("about to die")] },
  });
});

test("a hanging call ends at the limit of its source, and the same child serves the next call", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer(), timeout: "400ms" } });
  const pid = await hub.text("bad__pid");
  const [hung] = await Promise.all([hub.call("bad__hang"), hub.expectRestUndisturbed()]);
  expect(hung).toMatchObject({
    kind: "timeout",
    text: expect.stringMatching(/Timed out after 400 ms.*Raise the timeout/),
  });
  expect(hung.elapsedMs).toBeLessThan(WITHOUT_WAITING_MS);
  expect(hub.log.failedCalls()).toMatchObject([
    { source: "bad", target: "bad__hang", kind: "timeout", reason: expect.stringContaining("Raise the timeout") },
  ]);
  expect(await hub.text("bad__pid")).toBe(pid);
  await hub.expectRestUndisturbed();
});

test("restarts a server that hangs completely, and serves calls again", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer(), timeout: "3s" } });
  const pid = Number(await hub.text("bad__pid"));
  const from = hub.log.lines.length;
  expect(await hub.call("bad__freeze")).toMatchObject({ kind: "timeout" });
  await hub.expectRestUndisturbed();
  const line = await hub.log.warningOf("bad", from);
  expect(line.message).toMatch(/hangs.*started again/);
  expect(Number(await hub.text("bad__pid"))).not.toBe(pid);
  await expect.poll(() => isAlive(pid)).toBe(false);
  await hub.expectRestUndisturbed();
});

test("serves a server that floods stderr, without flooding the hub's own log", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer("stderr-flood") } });
  const [flooded] = await Promise.all([hub.text("bad__stderr", { lines: 20_000 }), hub.expectRestUndisturbed()]);
  expect(flooded).toBe("flooded");
  // The hub logs the number of dropped lines of a second together with the first line of the next second.
  await expect
    .poll(async () => [await hub.text("bad__stderr", { lines: 1 }), hub.log.warnings("bad")], { interval: 200 })
    .toEqual(["flooded", expect.arrayContaining([expect.stringMatching(/floods stderr: \d+ lines/)])]);
  expect(hub.log.lines.length).toBeLessThan(1000);
  expect(hub.status().stderr!.length).toBeLessThanOrEqual(40);
});

test("reports text and half a line on stdout once, and serves calls", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer("noise") } });
  expect(await hub.text("bad__pid")).toMatch(/^\d+$/);
  expect(await hub.call("bad__half")).toMatchObject({ kind: "malformed", text: expect.stringMatching(/not JSON/) });
  expect(await hub.text("bad__pid")).toMatch(/^\d+$/);
  await hub.expectRestUndisturbed();
  expect(hub.log.warnings("bad")).toEqual([expect.stringMatching(/on stdout.*logs belong on stderr/)]);
});

test("delivers duplicate, unknown and unordered answers to the correct caller or to none", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer() } });
  expect(await hub.text("bad__twice")).toBe("first");
  expect(await hub.text("bad__wrong-id")).toBe("right");
  expect(
    await Promise.all([
      hub.text("bad__reorder", { n: 1 }),
      hub.text("bad__reorder", { n: 2 }),
      hub.expectRestUndisturbed(),
    ]),
  ).toEqual(["1", "2", undefined]);
  expect(hub.log.warnings("bad").toSorted()).toEqual([
    expect.stringContaining("had its answer already"),
    expect.stringContaining("never made"),
  ]);
});

test("refuses an answer of 50 MB, naming the limit and its option; the child serves the next call", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer() } });
  const pid = await hub.text("bad__pid");
  const [big] = await Promise.all([hub.call("bad__big", { bytes: 50_000_000 }), hub.expectRestUndisturbed()]);
  expect(big).toMatchObject({
    kind: "too_large",
    text: expect.stringMatching(/Ask for less, or raise `max_message_bytes`/),
  });
  // Within the limit of a message, but over that of a result.
  expect(await hub.call("bad__big", { bytes: 12_000_000 })).toMatchObject({ kind: "too_large" });
  expect(await hub.text("bad__pid")).toBe(pid);
  await hub.expectRestUndisturbed();
  expect(hub.log.warnings("bad")).toEqual([expect.stringMatching(/over the limit/)]);
});

test("omits and names faulty tools, and lists the others", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer("broken-tool") } });
  expect((await hub.toolNames()).filter((name) => name.startsWith("bad__"))).toEqual([
    "bad__good",
    "bad__array-out",
    "bad__fine",
  ]);
  await hub.expectRestUndisturbed();
  const named = hub.log.lines
    .filter(({ level, facts }) => level === "warning" && facts["source"] === "bad")
    .map(({ facts }) => String(facts["subject"]));
  expect(named.toSorted()).toEqual(["array-out", "bad", "tools[1]", "tools[4]"]);
  expect(hub.hub.sources().find(({ source }) => source.id === "bad")?.problems).toHaveLength(4);
});

test("lists, finds and calls 10,000 tools over 100 pages; other servers are served meanwhile", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer("pages=100", "per-page=100") } });
  await hub.expectRestUndisturbed();
  // The first list waits for the server only for a limited time; the tools are announced later.
  let names = await hub.toolNames();
  if (!names.includes("bad__tool_99_99")) {
    await hub.client.next(LIST_CHANGED);
    names = await hub.toolNames();
  }
  expect(names.filter((name) => name.startsWith("bad__"))).toHaveLength(10_000);
  expect(await hub.call("bad__tool_99_99")).toMatchObject({
    text: expect.stringContaining("Unknown tool: tool_99_99"),
  });
  expect(await hub.text("tool_search", { query: "tool_57_31", max_results: 1 })).toContain("bad__tool_57_31");
  await hub.expectRestUndisturbed();
});

test("announces a list that changes during a call once, lists the new tool, and completes the call", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer() } });
  await hub.toolNames();
  const announced = hub.client.next(LIST_CHANGED);
  const [grown] = await Promise.all([hub.text("bad__grow"), hub.text("bad__echo"), hub.expectRestUndisturbed()]);
  expect(grown).toBe("grown");
  await announced;
  expect(await hub.toolNames()).toContain("bad__grown_0");
  await hub.expectRestUndisturbed();
  expect(hub.changesHeard()).toBe(1);
});

test("a server that never finishes starting delays no caller, ends at its limit and is reported", async () => {
  await using hub = await FaultHub.open({ bad: { command: legacyServer("never-starts"), connect_timeout: "700ms" } });
  await hub.expectRestUndisturbed();
  expect(await hub.toolNames()).toContain("good__pid");
  const line = await hub.log.warningOf("bad");
  expect(line.message).toMatch(/did not finish starting within 0.7 s.*`connect_timeout` can be raised/);
  expect(await hub.call("bad__pid")).toMatchObject({
    kind: "unavailable",
    text: expect.stringContaining("source bad"),
  });
  await hub.expectRestUndisturbed();
  expect(hub.status().state).not.toBe("ready");
});
