// Tasks of upstream servers: the hub follows them for every caller, and passes them on to callers with tasks.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { notificationsOf, TaskHub, upstreamConfig } from "./task-hub.ts";

const LONG = { timeout: 60_000 };
const ERAS = ["legacy", "modern"] as const;
const PLAIN = { declares: false };
const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

async function seen(hub: TaskHub): Promise<readonly { method: string; params: JsonObject }[]> {
  const text = await readFile(hub.desk.path("seen"), "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as never]));
}

async function countOf(hub: TaskHub, wanted: string): Promise<number> {
  return (await seen(hub)).filter(({ method }) => method === wanted).length;
}

async function status(hub: TaskHub, id: string): Promise<unknown> {
  return (await hub.get(id))["status"];
}

test.each(ERAS)("a caller without tasks gets the result of a %s server's task", LONG, async (era) => {
  await using hub = await TaskHub.start(upstreamConfig(era));
  const { tools } = (await hub.ask("tools/list", {}, PLAIN)).result as { tools: JsonObject[] };
  expect(tools.map(({ name }) => name)).toContain("up__long");
  const answering = hub.call("up__long", {}, PLAIN);
  await expect.poll(() => countOf(hub, "tasks/get")).toBeGreaterThan(1);
  await hub.desk.write("go", "");
  expect((await answering).result).toMatchObject({ resultType: "complete", content: [{ text: "ended by go" }] });
  expect(JSON.stringify(await answering)).not.toContain("upstream-1");
  expect((await hub.call("up__plain", {}, PLAIN)).result).toMatchObject({ content: [{ text: "direct plain" }] });
});

test.each(ERAS)("status messages of a %s server's task are progress of the call", LONG, async (era) => {
  await using hub = await TaskHub.start(upstreamConfig(era));
  const response = await hub.open("tools/call", { name: "up__long", _meta: { progressToken: 7 } }, PLAIN);
  const stream = notificationsOf(response);
  const progress = { method: "notifications/progress", params: { progressToken: 7, message: "printing" } };
  expect((await stream.next()).value).toMatchObject(progress);
  await hub.desk.write("go", "");
  expect((await stream.next()).value).toMatchObject({ result: { content: [{ text: "ended by go" }] } });
});

test.each(ERAS)("a tool's own error and a protocol error of a %s server's task are passed on", LONG, async (era) => {
  await using hub = await TaskHub.start(upstreamConfig(era));
  await hub.desk.write("go", "");
  expect((await hub.call("up__long", { mode: "isError" }, PLAIN)).result).toMatchObject({ isError: true });
  expect((await hub.call("up__long", { mode: "fails" }, PLAIN)).error).toMatchObject({ code: -32050 });
});

test.each(ERAS)("requests for input of a %s server's task reach a caller with and without tasks", LONG, async (era) => {
  await using hub = await TaskHub.start(upstreamConfig(era));
  const elicitation = { elicitation: {} };
  const first = await hub.call("up__long", { mode: "asks", name: "a" }, { ...PLAIN, capabilities: elicitation });
  const { inputRequests, requestState } = first.result as { inputRequests: JsonObject; requestState: string };
  const [key] = Object.keys(inputRequests);
  const retry = { name: "up__long", arguments: { mode: "asks", name: "a" }, requestState };
  const end = await hub.ask(
    "tools/call",
    { ...retry, inputResponses: { [key!]: { action: "decline" } } },
    { ...PLAIN, capabilities: elicitation },
  );
  expect(end.result).toMatchObject({ content: [{ text: "answered decline" }] });
  const options = { capabilities: elicitation };
  const id = await hub.task("up__long", { mode: "asks", name: "b" }, options);
  await expect.poll(() => status(hub, id)).toBe("input_required");
  const [open] = Object.keys((await hub.get(id))["inputRequests"] as JsonObject);
  await hub.ask("tasks/update", { taskId: id, inputResponses: { [open!]: { action: "accept" } } }, options);
  await expect.poll(() => status(hub, id)).toBe("completed");
  expect(await hub.get(id)).toMatchObject({ result: { content: [{ text: "answered accept" }] } });
});

test.each(ERAS)(
  "a caller that cannot answer ends the call, and the hub cancels the %s server's task",
  LONG,
  async (era) => {
    await using hub = await TaskHub.start(upstreamConfig(era));
    const { result, error } = await hub.call("up__long", { mode: "asks" }, PLAIN);
    expect(JSON.stringify(result ?? error)).toMatch(/elicitation|error/);
    if (era === "modern") await expect.poll(() => countOf(hub, "tasks/cancel")).toBe(1);
  },
);

test.each(ERAS)("a %s server's task becomes a task of the hub immediately, under another id", LONG, async (era) => {
  await using hub = await TaskHub.start(upstreamConfig(era));
  const tools = era === "legacy" ? ["up__long", "up__either"] : ["up__long"];
  for (const [at, tool] of tools.entries()) {
    const id = await hub.task(tool, { name: `file-${at}` });
    expect(id).not.toContain("upstream");
    await expect.poll(async () => (await hub.get(id))["statusMessage"]).toBe("printing");
    await hub.desk.write(`file-${at}`, "");
    await expect.poll(() => status(hub, id)).toBe("completed");
  }
});

test.each(ERAS)("cancelling the hub's task cancels the %s server's task", LONG, async (era) => {
  await using hub = await TaskHub.start(upstreamConfig(era));
  const id = await hub.task("up__long");
  await hub.ask("tasks/cancel", { taskId: id });
  await expect.poll(() => countOf(hub, "tasks/cancel")).toBe(1);
  expect(await status(hub, id)).toBe("cancelled");
});

test.each(ERAS)(
  "a %s server's task is followed again after kill -9 of the hub, and not started twice",
  LONG,
  async (era) => {
    await using hub = await TaskHub.start(upstreamConfig(era));
    const id = await hub.task("up__long");
    await hub.kill();
    await hub.restart();
    expect(await status(hub, id)).toBe("working");
    await hub.desk.write("go", "");
    await expect.poll(() => status(hub, id)).toBe("completed");
    expect(await hub.get(id)).toMatchObject({ result: { content: [{ text: "ended by go" }] } });
    expect(await countOf(hub, "tools/call")).toBe(1);
  },
);

test("a task that its server lost after a restart has failed with the reason", LONG, async () => {
  await using hub = await TaskHub.start(upstreamConfig("modern"));
  const id = await hub.task("up__long");
  await hub.kill();
  await hub.desk.write("upstream.json", "{}");
  await hub.restart();
  await expect.poll(() => status(hub, id)).not.toBe("working");
  expect(JSON.stringify(await hub.get(id))).toContain("lost the task");
});

test.each(ERAS)(
  "tools with the mode `never` are called without a task of the hub at a %s server",
  LONG,
  async (era) => {
    await using hub = await TaskHub.start(`[tasks.tools]\n"up::*" = "never"\n${upstreamConfig(era)}`);
    await hub.desk.write("go", "");
    expect((await hub.call("up__long")).result).toMatchObject({ resultType: "complete" });
  },
);

test("the hub sends `task` only to a tool that requires it, or for a caller with tasks", LONG, async () => {
  await using hub = await TaskHub.start(upstreamConfig("legacy"));
  await hub.desk.write("go", "");
  expect((await hub.call("up__either", {}, PLAIN)).result).toMatchObject({ content: [{ text: "direct either" }] });
  await hub.call("up__long", {}, PLAIN);
  await hub.call("up__plain");
  const sent = (await seen(hub)).filter(({ method }) => method === "tools/call");
  expect(sent.map(({ params }) => [params["name"], params["task"] !== undefined])).toEqual([
    ["either", false],
    ["long", true],
    ["plain", false],
  ]);
});

test("the official example server runs its task for a caller without tasks, and asks that caller", LONG, async () => {
  const command = [process.execPath, EVERYTHING, "stdio"];
  await using hub = await TaskHub.start(`[mcp.stdio_servers.up]\ncommand = ${JSON.stringify(command)}\n`);
  const options = { capabilities: { elicitation: { form: {} } } };
  const args = { topic: "python", ambiguous: true };
  const first = (await hub.call("up__simulate-research-query", args, { ...PLAIN, ...options })).result!;
  const [key] = Object.keys(first["inputRequests"] as JsonObject);
  const inputResponses = { [key!]: { action: "accept", content: { interpretation: "technical" } } };
  const retry = { name: "up__simulate-research-query", arguments: args, inputResponses };
  const end = await hub.ask("tools/call", { ...retry, requestState: first["requestState"] }, { ...PLAIN, ...options });
  expect(JSON.stringify(end.result)).toContain("Research Report: python");
});
